#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "topologies/cluster.hpp"
#include "topologies/network_structure.hpp"
#include "topologies/population.hpp"

namespace athanor {

/// Throws ScenarioError for attachments that are none ("does-not-fit") or too many to be counted ("too-large").
void check_population(const Population& population);

/// A network on which nothing is routed yet.
struct GeneratedNetwork {
  std::shared_ptr<NetworkStructure> structure;
  std::string kind;                      ///< "torus of 4 x 4"; ends a description
  FabricShape shape = {};                ///< as in Cluster
  std::array<std::uint32_t, 6> torus{};  ///< as in Cluster
};

/// One of the networks that the same members are on.
struct NetworkPart {
  std::string name;  ///< "": the only one
  Population population;
  GeneratedNetwork network;
  std::vector<std::uint32_t> nics;  ///< of every node, those that are on it
  bool hashes = false;              ///< its switches choose among equal paths by hash unless told otherwise
};

/// The cluster of a population on networks, of which ranks use one; the populations differ in their NICs only, and no
/// NIC is in two. Of several networks of bare devices each has `ports_before`, and the devices are positions of one at
/// most. Throws ScenarioError: "routing" for one that the network cannot do, "too-large" before anything is built.
Cluster assemble(const std::vector<NetworkPart>& parts, std::size_t used, const RoutingRequest& request);
/// On a single one.
Cluster assemble(const Population& population, GeneratedNetwork network, const RoutingRequest& request);

constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 30U;

/// The memory that a fabric of so many vertices and links needs while it is built.
Wide bytes_needed(Wide vertices, Wide links);

}  // namespace athanor
