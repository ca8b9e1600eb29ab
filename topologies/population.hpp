#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "topologies/fabric/fabric_builder.hpp"
#include "topologies/node/node_template.hpp"

namespace athanor {

/// Nodes of one kind among others, one after the other.
struct NodeKind {
  std::uint32_t members = 0;
  std::shared_ptr<const NodeTemplate> node;
  Bandwidth port_rate = Bandwidth::max();    ///< that one network port of its NICs reaches at most, ...
  Bandwidth port_usable = Bandwidth::max();  ///< ... and what headers leave of it

  std::uint32_t first_member = 0;  ///< and vertex, attachment, endpoint of the kind; filled in by mixture()
  std::uint32_t first_vertex = 0;
  std::uint32_t first_attachment = 0;
  std::uint32_t first_endpoint = 0;
};

/// What hangs on a network: nodes by their NICs, or bare devices that are on the network themselves. They are the
/// first vertices of a fabric, member after member. An attachment is one of them that has a port to the network;
/// attachments are numbered node by node, NIC by NIC.
struct Population {
  std::uint32_t members = 0;                 ///< nodes or bare devices
  std::shared_ptr<const NodeTemplate> node;  ///< null: bare devices; of a mixture the first kind
  VertexKind kind = VertexKind::host;        ///< of bare devices
  std::vector<NodeKind> kinds = {};          ///< of a mixture, at least two; else empty
  /// Of bare devices on several networks: the ports that each has to those before this one. Null: none. Filled in when
  /// their links are made (assemble.hpp).
  std::shared_ptr<std::vector<std::uint32_t>> ports_before = {};

  bool mixed() const { return !kinds.empty(); }
  /// Of every member. Require that nodes are of one kind; attachments_each, that all kinds have as many NICs.
  std::uint32_t vertices_each() const { return node ? node->vertices() : 1; }
  std::uint32_t endpoints_each() const { return node ? node->endpoints() : 1; }
  std::uint32_t attachments_each() const { return node ? node->nics() : 1; }
  std::uint32_t vertices() const;
  std::uint32_t attachments() const;
  std::uint32_t endpoints() const;

  VertexId endpoint(std::uint32_t e) const;
  VertexId attachment(std::uint32_t a) const {
    if (mixed()) { return mixed_attachment(a); }
    return node ? VertexId{a / node->nics() * node->vertices() + node->nic_vertex(a % node->nics())} : VertexId{a};
  }
  /// The attachment's first port to the network.
  std::uint32_t network_port(std::uint32_t a) const {
    if (mixed()) { return mixed_network_port(a); }
    if (!node) { return ports_before ? (*ports_before)[a] : 0; }
    return node->ports(node->nic_vertex(a % node->nics()));
  }
  /// What forwarding in the attachment adds to the latency of the link towards the network.
  Time forwarding(std::uint32_t a = 0) const;

  /// The member that a vertex is in: what it is, and its first vertex and attachment. Null node: a bare device.
  struct Home {
    const NodeTemplate* node = nullptr;
    std::uint32_t first_vertex = 0;
    std::uint32_t first_attachment = 0;
    std::uint32_t kind = 0;
  };
  Home home(VertexId v) const {
    if (mixed()) { return mixed_home(v); }
    if (!node) { return {nullptr, v.value, v.value, 0}; }
    const std::uint32_t member = v.value / node->vertices();
    return {node.get(), member * node->vertices(), member * node->nics(), 0};
  }
  /// Vertices of the members [first, last).
  VertexRange range(std::uint32_t first, std::uint32_t last) const;
  /// Members all of whose attachments are below a number, and members that have some below it.
  std::uint32_t members_within(std::uint32_t attachments) const;
  std::uint32_t members_begun(std::uint32_t attachments) const;

  /// The same of a mixture, which takes a little longer.
  VertexId mixed_attachment(std::uint32_t a) const;
  std::uint32_t mixed_network_port(std::uint32_t a) const;
  Home mixed_home(VertexId v) const;
};

/// So many nodes of one kind. Requires faults(spec) to be empty.
Population nodes(std::uint32_t count, const NodeSpec& spec);
/// So many devices that are on the network themselves: hosts, or GPUs that are positions of a torus.
Population hosts(std::uint32_t count, VertexKind kind = VertexKind::host);
/// Nodes of several kinds in this order; of one kind a uniform population. Requires at least one, members of each, and
/// NICs in each where there are several. Throws ScenarioError("too-large") for more devices than vertices have numbers.
Population mixture(std::vector<NodeKind> kinds);

/// Adds all vertices; requires an empty builder.
void add_vertices(const Population& population, FabricBuilder& builder);
/// Adds the links inside the nodes.
void add_links(const Population& population, FabricBuilder& builder);

}  // namespace athanor
