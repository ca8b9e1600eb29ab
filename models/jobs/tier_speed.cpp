#include "models/jobs/tier_speed.hpp"

#include <algorithm>

namespace athanor {

namespace {

/// 0: all on one node; else the first tier one of whose domains has all of them, counted from 1.
std::size_t distance(const Allocation& where, const std::vector<NodeTier>& tiers) {
  const NodeId first = where.front().node;
  const auto all = [&](auto same) {
    return std::all_of(where.begin(), where.end(), [&](const NodeShare& share) { return same(share.node); });
  };
  if (all([&](NodeId node) { return node == first; })) { return 0; }
  for (std::size_t tier = 0; tier < tiers.size(); ++tier) {
    const auto& domains = tiers[tier].domains;
    if (all([&](NodeId node) { return domains[node] == domains[first]; })) { return tier + 1; }
  }
  return tiers.size() + 1;
}

}  // namespace

TierSpeed::TierSpeed(const std::vector<double>& by_tier) {
  require(!by_tier.empty(), "a speed for no distance at all");
  for (const double speed : by_tier) { by_tier_.push_back(Speed::of(speed)); }
}

JobPace TierSpeed::pace(const RunningJob& running, WallTime /*done*/, const ClusterState& state) {
  const std::size_t tier = distance(running.where, state.inventory().nodes().tiers);
  return {by_tier_[std::min(tier, by_tier_.size() - 1)]};
}

}  // namespace athanor
