#include <algorithm>

#include "models/execution/executor.hpp"

namespace athanor {

void Executor::snapshot(std::vector<std::int64_t>& state) const {
  const Time now = simulator_.now();
  const auto relative = [now](Time when) { return when > now ? (when - now).count() : 0; };
  const auto pack = [](std::int64_t high, std::int64_t low) { return high << 32U | low; };
  for (const LaneState& lane : lanes_) {
    state.push_back(pack(lane.step, lane.unended << 8U | static_cast<std::uint32_t>(lane.phase)));
    state.push_back(pack(lane.missing, lane.incomplete << 1U | (lane.unreleased ? 1U : 0U)));
    state.push_back(relative(lane.send_time));
    state.push_back(relative(lane.work_time));
    state.push_back(relative(lane.pace_time));
    state.push_back(relative(lane.release_time));
  }
  for (const ConnectionState& connection : connections_) {
    state.push_back(pack(connection.held, connection.available));
    state.push_back(pack(connection.complete, connection.moved - connection.landed));
    state.push_back((connection.withheld ? 2 : 0) | (connection.early ? 1 : 0));
    state.push_back(relative(connection.not_before));
    state.push_back(connection.not_before > now ? std::int64_t{connection.moved - connection.late} : 0);
    state.push_back(relative(connection.late_time));
  }
}

std::uint64_t Executor::repeats(const std::vector<std::uint64_t>& advance) const {
  if (pending_launches_ > 0) { return 0; }  // their times are fixed
  std::uint64_t most = UINT64_MAX;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const LaneState& lane = lanes_[i];
    if (advance[i] > 0) {
      const std::uint64_t last = plan_.lanes[i].loops - 1;
      most = std::min(most, lane.loop < last ? (last - 1 - lane.loop) / advance[i] : 0);
    }
    if (lane.phase != Phase::waiting || lane.wait_lane == kNobody) { continue; }
    const LaneState& awaited = lanes_[lane.wait_lane];
    if (advance[i] == advance[lane.wait_lane] || awaited.primitives_ended >= lane.wait_ended) { continue; }
    if (advance[i] > 0) { return 0; }
    const std::uint64_t per_period = advance[lane.wait_lane] * plan_.lanes[lane.wait_lane].steps;
    most = std::min(most, (lane.wait_ended - 1 - awaited.primitives_ended) / per_period);
  }
  return most == UINT64_MAX ? 0 : most;
}

void Executor::warp(Time by, std::uint64_t times, const std::vector<std::uint64_t>& advance) {
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    LaneState& lane = lanes_[i];
    lane.loop += times * advance[i];
    lane.primitives_ended += times * advance[i] * plan_.lanes[i].steps;
    if (lane.wait_lane != kNobody) { lane.wait_ended += times * advance[i] * plan_.lanes[lane.wait_lane].steps; }
    lane.send_time += by;
    lane.work_time += by;
    lane.pace_time += by;
    lane.release_time += by;
  }
  for (ConnectionState& connection : connections_) {
    connection.not_before += by;
    connection.late_time += by;
  }
}

}  // namespace athanor
