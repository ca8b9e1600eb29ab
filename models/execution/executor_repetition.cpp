// What an Executor does for Repetition and StepRepetition: says what its state is, and moves on in it.

#include <algorithm>

#include "models/execution/executor.hpp"

namespace athanor {

namespace {

/// To whoever prices them, up to addresses. What waits depends on how far another lane is, and is like nothing.
bool are_alike(const Primitive& a, const Primitive& b) {
  return !a.wait && !b.wait && a.count == b.count && a.receives == b.receives && a.sends == b.sends &&
         a.inputs() == b.inputs();
}

}  // namespace

void Executor::snapshot(std::vector<std::int64_t>& state, Place place) const {
  const auto pack = [](std::int64_t high, std::int64_t low) { return high << 32U | low; };
  for (const LaneState& lane : lanes_) {
    const std::uint32_t step = place == Place::step ? lane.step : 0;
    state.push_back(pack(step, lane.unended << 8U | static_cast<std::uint32_t>(lane.phase)));
    state.push_back(lane.missing);
    if (place == Place::step) { continue; }
    state.push_back(lane.bytes.count());
    state.push_back(pack(lane.receives.first, lane.receives.count));
    state.push_back(pack(lane.sends.first, lane.sends.count));
    state.push_back(lane.inputs);
  }
  for (const ConnectionState& connection : connections_) {
    state.push_back(pack(connection.held, connection.available));
  }
  if (!kernels_) { return; }
  for (const KernelIndex kernel : kernels_->ids()) {
    state.push_back(std::max<std::int64_t>(0, (kernels_->due(kernel) - simulator_.now()).count()));
  }
}

std::uint64_t Executor::repeats(const IdVector<LaneIndex, std::uint64_t>& advance) const {
  if (pending_launches_ > 0) { return 0; }  // their times are fixed
  std::uint64_t most = UINT64_MAX;
  for (const LaneIndex i : lanes_.ids()) {
    const LaneState& lane = lanes_[i];
    if (advance[i] > 0) {
      const std::uint64_t last = mapped_.lanes[i].loops - 1;
      most = std::min(most, lane.loop < last ? (last - 1 - lane.loop) / advance[i] : 0);
    }
    if (lane.phase != Phase::waiting || lane.wait_lane == kNobody) { continue; }
    const LaneState& awaited = lanes_[lane.wait_lane];
    if (advance[i] == advance[lane.wait_lane] || awaited.primitives_ended >= lane.wait_ended) { continue; }
    if (advance[i] > 0) { return 0; }
    const std::uint64_t per_period = advance[lane.wait_lane] * mapped_.lanes[lane.wait_lane].steps;
    most = std::min(most, (lane.wait_ended - 1 - awaited.primitives_ended) / per_period);
  }
  return most == UINT64_MAX ? 0 : most;
}

void Executor::skip(std::uint64_t times, const IdVector<LaneIndex, std::uint64_t>& advance, Time by) {
  for (const LaneIndex i : lanes_.ids()) {
    LaneState& lane = lanes_[i];
    const std::uint64_t loops = times * advance[i];
    lane.loop += loops;
    lane.primitives_ended += loops * mapped_.lanes[i].steps;
    if (lane.wait_lane != kNobody) { lane.wait_ended += loops * mapped_.lanes[lane.wait_lane].steps; }
  }
  delay_kernels(by);
}

/// How many primitives, from the lane's present one on, are each like the one so many steps before, at most `limit`.
std::uint64_t Executor::alike_steps(LaneIndex lane, std::uint32_t advance, std::uint64_t limit) const {
  const MappedSchedule::Lane& mapped = mapped_.lanes[lane];
  const auto at = [&](std::uint32_t step) { return schedule_.at(mapped.agent, mapped.lane, lanes_[lane].loop, step); };
  const std::uint32_t now = lanes_[lane].step;
  const StepRange known = schedule_.alike(mapped.agent, mapped.lane, lanes_[lane].loop, now - advance);
  if (known.end > now && advance % known.period == 0) { return std::min<std::uint64_t>(known.end - now, limit); }
  std::uint64_t alike = 0;
  for (std::uint32_t step = now; step < mapped.steps && alike < limit; ++step, ++alike) {
    if (!are_alike(at(step), at(step - advance))) { break; }
  }
  return alike;
}

std::uint64_t Executor::step_repeats(const IdVector<LaneIndex, std::uint32_t>& advance) const {
  if (pending_launches_ > 0) { return 0; }  // their times are fixed
  std::uint64_t most = UINT32_MAX;
  for (const LaneIndex i : lanes_.ids()) {
    const LaneState& lane = lanes_[i];
    if (advance[i] > 0) {  // the primitive after the last period is under way, too
      const std::uint64_t alike = alike_steps(i, advance[i], most * advance[i] + 1);
      most = alike == 0 ? 0 : std::min(most, (alike - 1) / advance[i]);
    } else if (lane.phase == Phase::waiting && lane.wait_lane != kNobody && advance[lane.wait_lane] > 0) {
      const std::uint64_t ended = lanes_[lane.wait_lane].primitives_ended;
      if (ended < lane.wait_ended) { most = std::min(most, (lane.wait_ended - 1 - ended) / advance[lane.wait_lane]); }
    }
    if (most == 0) { return 0; }
  }
  return most == UINT32_MAX ? 0 : most;
}

void Executor::skip_steps(std::uint32_t times, const IdVector<LaneIndex, std::uint32_t>& advance, Time by) {
  for (const LaneIndex i : lanes_.ids()) {
    lanes_[i].step += times * advance[i];
    lanes_[i].primitives_ended += std::uint64_t{times} * advance[i];
  }
  delay_kernels(by);
}

/// Those that have begun are past what they waited for, and remain so.
void Executor::delay_kernels(Time by) {
  if (!kernels_) { return; }
  for (const KernelIndex kernel : kernels_->ids()) { kernels_->due(kernel) += by; }
}

std::uint64_t Executor::call_repeats(std::uint32_t advance) const {
  std::uint64_t most = UINT64_MAX;
  for (const LaneIndex lane : lanes_.ids()) {
    if (primitives_of(lane) == 0) { continue; }
    most = std::min<std::uint64_t>(most, (loop_.calls - 1 - lanes_[lane].call) / advance);
  }
  return most == UINT64_MAX ? 0 : most;
}

void Executor::skip_calls(std::uint32_t calls, Time by) {
  for (const LaneIndex i : lanes_.ids()) {
    LaneState& lane = lanes_[i];
    if (primitives_of(i) == 0) { continue; }
    lane.call += calls;
    lane.primitives_ended += calls * primitives_of(i);
    if (lane.wait_lane != kNobody) { lane.wait_ended += calls * primitives_of(lane.wait_lane); }
  }
  delay_kernels(by);
}

}  // namespace athanor
