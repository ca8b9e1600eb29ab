#include <fmt/core.h>

#include "models/execution/executor.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

std::string agent_name(const Schedule& schedule, AgentId agent) {
  const std::uint32_t ranks = schedule.roster().ranks;
  return agent.value < ranks ? fmt::format("rank {}", agent.value) : fmt::format("engine {}", agent.value - ranks);
}

}  // namespace

std::string Executor::why_not_started(std::uint32_t lane) const {
  const MappedSchedule::Lane& plan = plan_.lanes[lane];
  const LaneState& state = lanes_[lane];
  std::string text = fmt::format("{} lane {} loop {} step {}", agent_name(schedule_, plan.agent), plan.lane.value,
                                 state.loop, state.step);
  if (state.phase == Phase::unlaunched) { return text + " waits for the job before it to end"; }
  if (state.phase != Phase::waiting) { return text + " has begun and does not end"; }
  for (std::uint32_t port = state.receives.first; port < state.receives.first + state.receives.count; ++port) {
    const std::uint32_t connection = plan_.in_connections[plan.first_in + port];
    if (connections_[connection].available > 0) { continue; }
    const MappedSchedule::Lane& sender = plan_.lanes[plan_.connections[connection].source_lane];
    text +=
        fmt::format(", waits for a message from {} lane {}", agent_name(schedule_, sender.agent), sender.lane.value);
  }
  for (std::uint32_t port = state.sends.first; port < state.sends.first + state.sends.count; ++port) {
    const std::uint32_t connection = plan.first_out + port;
    if (connections_[connection].held < slots(connection)) { continue; }
    const MappedSchedule::Lane& receiver = plan_.lanes[plan_.connections[connection].target_lane];
    text += fmt::format(", waits for one of {} slots towards {} lane {}", slots(connection),
                        agent_name(schedule_, receiver.agent), receiver.lane.value);
  }
  if (state.wait_lane != kNobody && lanes_[state.wait_lane].primitives_ended < state.wait_ended) {
    text += fmt::format(", waits until its lane {} has ended {} primitives (now {})",
                        plan_.lanes[state.wait_lane].lane.value, state.wait_ended,
                        lanes_[state.wait_lane].primitives_ended);
  }
  return text;
}

void Executor::require_finished() const {
  if (finished()) { return; }
  constexpr std::uint32_t kNamed = 8;
  std::string text =
      fmt::format("the collective does not end: {} of {} lanes wait for ever", running_lanes_, lanes_.size());
  std::uint32_t named = 0;
  for (std::uint32_t lane = 0; lane < lanes_.size() && named < kNamed; ++lane) {
    if (lanes_[lane].phase == Phase::ended) { continue; }
    text += "\n  " + why_not_started(lane);
    ++named;
  }
  if (running_lanes_ > named) { text += fmt::format("\n  and {} more", running_lanes_ - named); }
  throw SimulationError("deadlock", text);
}

}  // namespace athanor
