#pragma once

#include <memory>
#include <string_view>

#include "topologies/cluster.hpp"
#include "topologies/network_structure.hpp"
#include "topologies/population.hpp"

namespace athanor {

/// Throws ScenarioError for attachments that are none ("does-not-fit") or too many to be counted ("too-large").
void check_population(const Population& population);

/// The cluster of a population on a network. Throws ScenarioError: "routing" for one that the network cannot do,
/// "too-large" before anything is built. `kind` ends its description: "torus of 4 x 4".
Cluster assemble(const Population& population, std::shared_ptr<NetworkStructure> network, const RoutingRequest& request,
                 std::string_view kind);

}  // namespace athanor
