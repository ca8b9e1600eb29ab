#include "models/engines/trees/aggregation_manager.hpp"

#include <algorithm>
#include <utility>

#include "models/engines/trees/switch_graph.hpp"
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

namespace {

template <class Thing>
bool share(const std::vector<Thing>& a, const std::vector<Thing>& b) {
  return std::any_of(a.begin(), a.end(), [&](Thing thing) { return std::find(b.begin(), b.end(), thing) != b.end(); });
}

}  // namespace

TreeAdmission::TreeAdmission(const Fabric& fabric, EngineLimits limits, std::optional<std::uint8_t> network,
                             bool exclusive)
    : fabric_(fabric), limits_(std::move(limits)), network_(network), exclusive_(exclusive) {
  round(0);
}

AggregationManager& TreeAdmission::round(std::size_t number) {
  while (rounds_.size() <= number) {
    rounds_.push_back(std::make_unique<AggregationManager>(fabric_, limits_, network_));
  }
  return *rounds_[number];
}

TreeGrant TreeAdmission::try_grant(const TreeRequest& request) {
  TreeGrant grant = this->grant(request);
  const auto held = round_of_.find(request.job);
  if (held == round_of_.end()) { return grant; }
  round(held->second).release(request.job);
  round_of_.erase(held);
  return grant;
}

/// In the first round that has room and behind which nobody waits for the same. One that nobody has been granted
/// anything in refuses for good.
TreeGrant TreeAdmission::grant(const TreeRequest& request) {
  require(!round_of_.contains(request.job), "job {} holds trees already", request.job);
  for (std::size_t number = 0;; ++number) {
    const bool fresh = std::none_of(round_of_.begin(), round_of_.end(),
                                    [number](const auto& entry) { return entry.second == number; });
    TreeGrant grant = round(number).grant(request);
    if (!grant.refusal && overtakes(number, request.job)) {
      round(number).release(request.job);
    } else if (!grant.refusal) {
      round_of_[request.job] = number;
      return grant;
    } else if (exclusive_ || fresh || grant.refusal->code != "engines-exhausted") {
      return grant;
    }
  }
}

bool TreeAdmission::overtakes(std::size_t number, std::uint32_t job) const {
  const std::vector<AllocatedTree> held = rounds_[number]->held(job);
  return std::any_of(round_of_.begin(), round_of_.end(), [&](const auto& entry) {
    return entry.second > number && conflict(held, rounds_[entry.second]->held(entry.first));
  });
}

bool TreeAdmission::conflict(const std::vector<AllocatedTree>& a, const std::vector<AllocatedTree>& b) const {
  for (const AllocatedTree& one : a) {
    for (const AllocatedTree& other : b) {
      if (!one.streaming || !other.streaming) { continue; }
      if (limits_.streams_per_switch != UINT32_MAX && share(one.switches, other.switches)) { return true; }
      if (limits_.streams_per_port != UINT32_MAX && share(one.ports, other.ports)) { return true; }
    }
  }
  return false;
}

/// Whoever holds the same switches or ports; where that is nobody, a limit of the whole subnet was in the way, and all
/// of the round before have to end.
std::vector<std::uint32_t> TreeAdmission::before(std::uint32_t job) const {
  const auto own = round_of_.find(job);
  if (own == round_of_.end() || own->second == 0) { return {}; }
  const std::vector<AllocatedTree> held = rounds_[own->second]->held(job);
  std::vector<std::uint32_t> found;
  std::vector<std::uint32_t> round_before;
  for (const auto& [other, number] : round_of_) {
    if (number >= own->second) { continue; }
    if (number + 1 == own->second) { round_before.push_back(other); }
    if (conflict(held, rounds_[number]->held(other))) { found.push_back(other); }
  }
  return found.empty() ? round_before : found;
}

}  // namespace athanor
