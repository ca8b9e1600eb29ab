#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/json_value.hpp"
#include "topologies/fabric/fabric.hpp"
#include "topologies/fabric/structure.hpp"

namespace athanor {

struct Cluster;

/// What a cluster is, in numbers.
struct ClusterDescription {
  struct Diameter {
    std::uint32_t links = 0;  ///< of the longest route between two endpoints
    bool sampled = false;     ///< not all pairs were looked at: at least so many
  };
  /// The narrowest of the cuts into halves that the fabric suggests: the line rate of all links from one half to the
  /// other, one direction. For a fat tree or a torus that is its bisection bandwidth as textbooks define it.
  struct Bisection {
    std::string name;
    Bandwidth bandwidth;
    std::uint32_t endpoints = 0;  ///< in the smaller half
  };

  std::string summary;
  std::uint32_t endpoints = 0;
  std::uint32_t endpoints_per_node = 0;
  std::uint32_t nics_per_node = 0;
  std::array<std::uint32_t, kVertexKinds> vertices{};  ///< by VertexKind
  std::array<std::uint32_t, kLinkKinds> links{};       ///< by LinkKind, one direction each
  Diameter diameter;
  std::optional<Bisection> bisection;  ///< none: one endpoint
  Bandwidth injection;                 ///< line rate of all links that leave one endpoint, the least
  std::vector<TierSummary> tiers;
  std::vector<NetworkSummary> networks;  ///< where there are several: what is routed and cut is that of the used one
  std::vector<std::string>
      warnings;  ///< those of the cluster, and whether its routes may wait for each other in a circle
};

ClusterDescription describe(const Cluster& cluster);

/// A table for people, lines ending in '\n'.
std::string to_text(const ClusterDescription& description);
JsonValue to_json(const ClusterDescription& description);

/// The fabric as a Graphviz graph: a box for each node, an edge for each cable (both directions), labelled with its
/// line rate.
std::string to_dot(const Cluster& cluster);

/// The fabric for other programs: {"description", "fabrics": [{"name", "kind", "nics", "used"}] (none where there is
/// one without a name), "vertices": [{"name", "kind"}], "links": [{"from", "to", "kind",
/// "rate_bytes_per_s", "usable_bytes_per_s", "latency_ps"}, of one that is down also "down": true, of several networks
/// the "network" that it belongs to], "endpoints",
/// "shape": {"kind", "sizes"} (FabricShape),
/// "routes": [{"from", "to", "links", "by_flow"}]}. Vertices and links are named by their place in these lists; a link
/// is one direction. Routes are those of the cluster's router for every ordered pair of endpoints, or null beyond 256
/// endpoints; "by_flow" says that other flows between the two take other paths.
JsonValue fabric_to_json(const Cluster& cluster);
/// The same without the routes.
JsonValue graph_to_json(const Cluster& cluster);

}  // namespace athanor
