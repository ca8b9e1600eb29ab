#include "models/engines/trees/aggregation_manager.hpp"

#include <utility>

#include "models/engines/trees/engine_places.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

AggregationManager::AggregationManager(const Fabric& fabric, EngineLimits limits, std::optional<std::uint8_t> network)
    : limits_(std::move(limits)),
      graph_(fabric, network),
      places_(engine_places(graph_, limits_)),
      allocations_(fabric, limits_) {
  if (std::optional<Problem> problem = wrong_places(graph_, limits_)) { throw ScenarioError(std::move(*problem)); }
}

TreeGrant AggregationManager::grant(const TreeRequest& request) {
  require(!request.groups.empty(), "job {} asks for trees of no group", request.job);
  TreeGrant grant;
  std::vector<AllocatedTree> held;
  for (const std::vector<VertexId>& group : request.groups) {
    for (std::uint32_t k = 0; k < request.trees_of_each; ++k) {
      auto built = build_tree(state(), request.job, request.streaming, group);
      if (TreeRefusal* refusal = std::get_if<TreeRefusal>(&built)) {
        for (const AllocatedTree& tree : held) { allocations_.give_back(tree); }
        return {{}, std::move(*refusal)};
      }
      GrownTree& grown = std::get<GrownTree>(built);
      allocations_.take(grown.held);
      held.push_back(std::move(grown.held));
      grant.trees.push_back(std::move(grown.placed));
    }
  }
  std::vector<AllocatedTree>& own = jobs_[request.job];
  own.insert(own.end(), held.begin(), held.end());
  return grant;
}

void AggregationManager::release(std::uint32_t job) {
  for (const AllocatedTree& tree : held(job)) { allocations_.give_back(tree); }
  jobs_.erase(job);
}

std::vector<AllocatedTree> AggregationManager::held(std::uint32_t job) const {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? std::vector<AllocatedTree>{} : found->second;
}

PlacedTree build_aggregation_tree(const Fabric& fabric, std::span<const VertexId> endpoints, const EngineLimits& limits,
                                  std::optional<std::uint8_t> network) {
  AggregationManager manager(fabric, limits, network);
  TreeGrant grant = manager.grant({0, {{endpoints.begin(), endpoints.end()}}, false, 1});
  if (grant.refusal) { throw SimulationError(grant.refusal->code, grant.refusal->reason); }
  return std::move(grant.trees.front());
}

}  // namespace athanor
