#include <algorithm>

#include "models/execution/critical_path.hpp"
#include "models/execution/executor.hpp"

namespace athanor {

void Executor::start(Time launch) {
  launch_ = finish_ = launch;
  running_lanes_ = static_cast<std::uint32_t>(lanes_.size());
  for (const MappedSchedule::Lane& lane : plan_.lanes) { ++running_of_start_[lane.start]; }
  for (std::uint32_t start = 0; start < plan_.starts.size(); ++start) {
    awaited_starts_.push_back(static_cast<std::uint32_t>(plan_.starts[start].after.size()));
    if (awaited_starts_.back() == 0) { launch_at(launch, start); }
  }
}

void Executor::launch_at(Time when, std::uint32_t start) {
  ++pending_launches_;
  const Time then = std::max(when, launch_ + plan_.starts[start].begin);
  if (path_ != nullptr) { path_->starts(code(Kind::launch, start), then - simulator_.now()); }
  at(then, Kind::launch, start);
}

void Executor::launch(std::uint32_t start) {
  --pending_launches_;
  for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
    if (plan_.lanes[lane].start != start) { continue; }
    if (plan_.lanes[lane].loops > 0 && plan_.lanes[lane].steps > 0) {
      load(lane);
    } else {
      lane_ended(lane);
    }
  }
  if (std::count_if(plan_.lanes.begin(), plan_.lanes.end(),
                    [start](const MappedSchedule::Lane& lane) { return lane.start == start; }) == 0) {
    start_ended(start);
  }
  if (processors_ != nullptr) { processors_->launch(); }
}

void Executor::lane_ended(std::uint32_t lane) {
  if (path_ != nullptr) { path_->lane_ended(); }
  lanes_[lane].phase = Phase::ended;
  ends_[lane] = finish_ = simulator_.now();
  --running_lanes_;
  if (--running_of_start_[plan_.lanes[lane].start] == 0) { start_ended(plan_.lanes[lane].start); }
}

/// Whoever waited for all of these lanes begins.
void Executor::start_ended(std::uint32_t start) {
  for (std::uint32_t next = 0; next < plan_.starts.size(); ++next) {
    const auto& after = plan_.starts[next].after;
    const auto times = static_cast<std::uint32_t>(std::count(after.begin(), after.end(), start));
    if (times > 0 && (awaited_starts_[next] -= times) == 0) { launch_at(simulator_.now(), next); }
  }
}

}  // namespace athanor
