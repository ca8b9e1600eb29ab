#pragma once

#include "sim/json/object_reader.hpp"
#include "topologies/scenario/cluster_text.hpp"

namespace athanor {

/// Declare the keys of the "cluster" part of a scenario, and of a node (preset or written out). Used for reading and
/// for the JSON Schema alike.
void read_cluster(ObjectReader& reader, ClusterText& cluster);
void read_node(ObjectReader& reader, NodeText& node);
/// "compute_capability" of a GPU or of the GPUs of a node: from 1.0 to 99.9, in steps of a tenth.
void read_compute_capability(ObjectReader& reader, std::optional<Ratio>& capability);
/// One entry of "overrides".
void read_override(ObjectReader& reader, LinkOverride& given);
/// "name", "graph" and "port": the inside of a node written out.
void read_node_graph(ObjectReader& reader, NodeText& node);
/// A link by the name of its preset, or by its figures.
void read_link(ValueReader& reader, LinkText& link);
void read_link_figures(ObjectReader& reader, LinkText& link);
/// "link": {"rate": ..., "latency": ...} of the network, required or not; and what names the cables and switches of
/// one.
void read_network_link(ObjectReader& reader, NetworkLinkText& link);
void read_network_link(ObjectReader& reader, std::string_view key, std::string_view meaning,
                       std::optional<NetworkLinkText>& link);
void read_ports(ObjectReader& reader, FabricText& fabric);
/// The kinds of direct networks.
void read_mesh(ObjectReader& reader, FabricText& fabric);
void read_torus(ObjectReader& reader, FabricText& fabric);
void read_full_mesh(ObjectReader& reader, FabricText& fabric);
void read_hyperx(ObjectReader& reader, FabricText& fabric);
void read_dragonfly(ObjectReader& reader, FabricText& fabric);
void read_dragonfly_plus(ObjectReader& reader, FabricText& fabric);
void read_slim_fly(ObjectReader& reader, FabricText& fabric);
/// "vertices" and "links".
void read_graph(ObjectReader& reader, GraphText& graph);
/// The names of "network": {"routing": ...}.
Names<Routing> routing_names();

}  // namespace athanor
