#pragma once

#include <cstdint>
#include <memory>

#include "topologies/fabric_builder.hpp"
#include "topologies/node/node_template.hpp"

namespace athanor {

/// What hangs on a network: nodes by their NICs, or bare devices that are on the network themselves. They are the
/// first vertices of a fabric, member after member. An attachment is one of them that has a port to the network;
/// attachments are numbered node by node, NIC by NIC.
struct Population {
  std::uint32_t members = 0;                 ///< nodes or bare devices
  std::shared_ptr<const NodeTemplate> node;  ///< null: bare devices
  VertexKind kind = VertexKind::host;        ///< of bare devices

  std::uint32_t vertices_each() const { return node ? node->vertices() : 1; }
  std::uint32_t endpoints_each() const { return node ? node->gpus() : 1; }
  std::uint32_t attachments_each() const { return node ? node->nics() : 1; }
  std::uint32_t vertices() const { return members * vertices_each(); }
  std::uint32_t attachments() const { return members * attachments_each(); }
  std::uint32_t endpoints() const { return members * endpoints_each(); }

  VertexId endpoint(std::uint32_t e) const {
    return VertexId{e / endpoints_each() * vertices_each() + e % endpoints_each()};
  }
  VertexId attachment(std::uint32_t a) const {
    return node ? VertexId{a / node->nics() * node->vertices() + node->nic_vertex(a % node->nics())} : VertexId{a};
  }
  /// The attachment's port to the network, where it has a single one.
  std::uint32_t network_port(std::uint32_t a) const {
    return node ? node->ports(node->nic_vertex(a % node->nics())) : 0;
  }
  /// What forwarding in the attachment adds to the latency of the link towards the network.
  Time forwarding() const { return node ? node->spec().nic_forwarding : Time::zero(); }
};

/// Adds all vertices; requires an empty builder.
void add_vertices(const Population& population, FabricBuilder& builder);
/// Adds the links inside the nodes.
void add_links(const Population& population, FabricBuilder& builder);

}  // namespace athanor
