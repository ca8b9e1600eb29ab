#include "models/engines/trees/aggregation_manager.hpp"

#include <algorithm>
#include <utility>

#include "models/engines/trees/engine_places.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

AggregationManager::AggregationManager(const Fabric& fabric, EngineLimits limits, std::optional<std::uint8_t> network)
    : limits_(std::move(limits)),
      graph_(fabric, network),
      places_(engine_places(graph_, limits_)),
      holdings_(fabric, limits_) {
  if (std::optional<Problem> problem = wrong_places(graph_, limits_)) { throw ScenarioError(std::move(*problem)); }
}

TreeGrant AggregationManager::grant(const TreeRequest& request) {
  require(!request.groups.empty(), "job {} asks for trees of no group", request.job);
  std::vector<Entry> granted;
  for (const std::vector<VertexId>& group : request.groups) {
    for (std::uint32_t k = 0; k < request.trees_of_each; ++k) {
      auto built = build_tree(state(), request.job, request.streaming, group);
      if (TreeRefusal* refusal = std::get_if<TreeRefusal>(&built)) {
        for (const Entry& entry : granted) { holdings_.give_back(entry.grown.held); }
        return {{}, std::move(*refusal)};
      }
      granted.push_back({group, std::get<GrownTree>(std::move(built))});
      holdings_.take(granted.back().grown.held);
    }
  }
  TreeGrant grant;
  std::vector<Entry>& entries = jobs_[request.job];
  for (Entry& entry : granted) {
    grant.trees.push_back(entry.grown.placed);
    entries.push_back(std::move(entry));
  }
  return grant;
}

void AggregationManager::release(std::uint32_t job) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) { return; }
  for (const Entry& entry : found->second) {
    if (entry.held) { holdings_.give_back(entry.grown.held); }
  }
  jobs_.erase(found);
}

std::vector<HeldTree> AggregationManager::held(std::uint32_t job) const {
  std::vector<HeldTree> held;
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) { return held; }
  for (const Entry& entry : found->second) {
    if (entry.held) { held.push_back(entry.grown.held); }
  }
  return held;
}

std::vector<TreeChange> AggregationManager::fail(VertexId device) {
  graph_.fail(device);
  return rebuild([device](const Entry& entry) {
    const auto& hops = entry.grown.hops;
    return std::find(entry.endpoints.begin(), entry.endpoints.end(), device) != entry.endpoints.end() ||
           std::any_of(hops.begin(), hops.end(),
                       [&](const auto& hop) { return hop.first == device || hop.second == device; });
  });
}

std::vector<TreeChange> AggregationManager::fail(VertexId a, VertexId b) {
  graph_.fail(a, b);
  return rebuild([a, b](const Entry& entry) {
    const auto& hops = entry.grown.hops;
    return std::any_of(hops.begin(), hops.end(),
                       [&](const auto& hop) { return hop == std::pair(a, b) || hop == std::pair(b, a); });
  });
}

/// What they hold is free for all of them before the first is built anew.
template <class Crosses>
std::vector<TreeChange> AggregationManager::rebuild(const Crosses& crosses) {
  std::vector<std::pair<std::uint32_t, std::size_t>> cut;
  for (auto& [job, entries] : jobs_) {
    for (std::size_t tree = 0; tree < entries.size(); ++tree) {
      if (!entries[tree].held || !crosses(entries[tree])) { continue; }
      holdings_.give_back(entries[tree].grown.held);
      entries[tree].held = false;
      cut.emplace_back(job, tree);
    }
  }
  std::vector<TreeChange> changes;
  for (const auto& [job, tree] : cut) { changes.push_back(build_anew(job, tree)); }
  return changes;
}

TreeChange AggregationManager::build_anew(std::uint32_t job, std::size_t tree) {
  Entry& entry = jobs_.at(job)[tree];
  auto built = build_tree(state(), job, entry.grown.held.streaming, entry.endpoints);
  if (const TreeRefusal* refusal = std::get_if<TreeRefusal>(&built)) {
    return {job, tree, std::nullopt, refusal->reason};
  }
  entry.grown = std::get<GrownTree>(std::move(built));
  entry.held = true;
  holdings_.take(entry.grown.held);
  return {job, tree, entry.grown.placed, ""};
}

PlacedTree build_aggregation_tree(const Fabric& fabric, std::span<const VertexId> endpoints, const EngineLimits& limits,
                                  std::optional<std::uint8_t> network) {
  AggregationManager manager(fabric, limits, network);
  TreeGrant grant = manager.grant({0, {{endpoints.begin(), endpoints.end()}}, false, 1});
  if (grant.refusal) { throw SimulationError(grant.refusal->code, grant.refusal->reason); }
  return std::move(grant.trees.front());
}

}  // namespace athanor
