#pragma once

#include <memory>
#include <string>
#include <vector>

#include "topologies/cluster.hpp"
#include "topologies/network_topology.hpp"
#include "topologies/population.hpp"

namespace athanor {

/// Throws ScenarioError for attachments that are none ("does-not-fit") or too many to be counted ("too-large").
void check_population(const Population& population);

/// One of the networks that the same members are on.
struct AttachedNetwork {
  std::string name;  ///< "": the only one
  Population population;
  std::shared_ptr<NetworkTopology> topology;
  std::vector<std::uint32_t> nics;  ///< of every node, those that are on it
  bool hashes = false;              ///< its switches choose among equal paths by hash unless told otherwise
  Bandwidth member_rate{};          ///< line rate of all that one member (of a mixture the fastest kind) has on it
};

/// The cluster of a population on networks, of which ranks use one; the populations differ in their NICs only, and no
/// NIC is in two. Of several networks of bare devices each has `ports_before`, and the devices are positions of one at
/// most. Throws ScenarioError: "routing" for one that the network cannot do, "too-large" before anything is built.
Cluster assemble(const std::vector<AttachedNetwork>& networks, std::size_t used, const RoutingRequest& request);
/// The cluster of a population on a single network.
Cluster assemble(const Population& population, std::shared_ptr<NetworkTopology> network,
                 const RoutingRequest& request = {});

constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 30U;

/// The memory that a fabric of so many vertices and links needs while it is built.
Wide bytes_needed(Wide vertices, Wide links);

}  // namespace athanor
