#pragma once

#include "sim/json/object_reader.hpp"
#include "topologies/scenario/cluster_text.hpp"

namespace athanor {

/// Declare the keys of the "cluster" part of a scenario, and of a node (preset or written out). Used for reading and
/// for the JSON Schema alike.
void read_cluster(ObjectReader& reader, ClusterText& cluster);
void read_node(ObjectReader& reader, NodeText& node);
/// One entry of "overrides".
void read_override(ObjectReader& reader, LinkOverride& given);
/// A link by the name of its preset, or by its figures.
void read_link(ValueReader& reader, LinkText& link);
void read_link_figures(ObjectReader& reader, LinkText& link);
/// The names of "network": {"routing": ...}.
Names<Routing> routing_names();

}  // namespace athanor
