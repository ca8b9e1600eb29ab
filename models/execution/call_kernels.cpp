#include "models/execution/call_kernels.hpp"

#include <algorithm>

#include "models/execution/mapped_schedule.hpp"

namespace athanor {

namespace {

/// Of an agent, each class once; those that do nothing are left out.
std::vector<LaneIndex> working_lanes(const MappedSchedule& mapped, AgentId agent) {
  std::vector<LaneIndex> lanes;
  for (std::size_t i = mapped.first_lane[agent]; i < mapped.end_of_lanes(agent); ++i) {
    const LaneIndex lane = mapped.lane_of[i];
    if (mapped.lanes[lane].loops > 0 && mapped.lanes[lane].steps > 0) { lanes.push_back(lane); }
  }
  std::sort(lanes.begin(), lanes.end());
  lanes.erase(std::unique(lanes.begin(), lanes.end()), lanes.end());
  return lanes;
}

}  // namespace

CallKernels::CallKernels(const MappedSchedule& mapped, std::uint32_t ranks) : of_lane_(mapped.lanes.size()) {
  for (AgentId agent{0}; agent.value < ranks; ++agent.value) {
    std::vector<LaneIndex> lanes = working_lanes(mapped, agent);
    if (lanes.empty()) { continue; }
    if (!of_lane_[lanes.front()]) {
      for (const LaneIndex lane : lanes) { of_lane_[lane] = kernels_.next(); }
      kernels_.push_back({std::move(lanes), 0, 0, Time::zero()});
      ++kernels_.back().members;
    } else {
      ++kernels_[*of_lane_[lanes.front()]].members;
    }
  }
}

bool CallKernels::lane_ended(KernelIndex kernel) {
  Kernel& state = kernels_[kernel];
  if (++state.ended < state.lanes.size()) { return false; }
  state.ended = 0;
  return true;
}

}  // namespace athanor
