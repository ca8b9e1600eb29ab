#pragma once

#include <array>
#include <string>
#include <vector>

#include "topologies/fabric/fabric.hpp"

namespace athanor {

/// Collects vertices and links, then makes the Fabric of them.
class FabricBuilder {
 public:
  /// Room for so many, to build large fabrics without reallocation; more may be added.
  void reserve(std::size_t vertices, std::size_t links);

  /// What is added from now on, vertices and links of kind network, belongs to this one of several networks. Each name
  /// gets a number when it is first selected; "" is number 0 again. At most kMostNetworks names.
  void select_network(const std::string& name);

  /// Vertices are numbered from 0 in the order in which they are added.
  VertexId add(const Vertex& vertex);
  /// The same, with a name of its own. Either all vertices have one or none has.
  VertexId add_named(VertexKind kind, std::string name);

  /// One direction. Requires two different known vertices, 0 < usable <= rate and latency >= 0.
  void add_link(VertexId from, VertexId to, const Link& link);
  /// Both directions, the first one first.
  void connect(VertexId a, VertexId b, const Link& link);
  /// Both directions with latencies of their own.
  void connect(VertexId a, VertexId b, const Link& forth, const Link& back);

  /// The ports that the first vertices, so many, have so far. O(links).
  std::vector<std::uint32_t> ports(std::uint32_t vertices) const;

  /// Leaves the builder empty.
  Fabric build();

 private:
  struct Pending {
    std::uint32_t from, to;
    Link link;
  };
  std::vector<Vertex> vertices_;
  std::vector<Pending> links_;
  std::vector<std::string> names_;
  std::array<std::uint32_t, kVertexKinds> named_{};  ///< so many of each kind
  std::vector<std::string> networks_;
  std::uint8_t network_ = 0;  ///< that is selected
};

}  // namespace athanor
