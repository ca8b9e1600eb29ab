#include "models/execution/executor.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "models/execution/primitive_costs.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

/// To whoever prices them, up to addresses. What waits depends on how far another lane is, and is like nothing.
bool are_alike(const Primitive& a, const Primitive& b) {
  return !a.wait && !b.wait && a.count == b.count && a.receives == b.receives && a.sends == b.sends &&
         a.inputs() == b.inputs();
}

std::string agent_name(const Schedule& schedule, AgentId agent) {
  const std::uint32_t ranks = schedule.agent_count().ranks;
  return agent.value < ranks ? fmt::format("rank {}", agent.value) : fmt::format("engine {}", agent.value - ranks);
}

}  // namespace

Executor::Executor(Simulator& simulator, const MappedSchedule& mapped, const Schedule& schedule, Substrate& substrate,
                   Bytes element_size, std::uint32_t slots)
    : simulator_(simulator),
      mapped_(mapped),
      schedule_(schedule),
      substrate_(substrate),
      id_(simulator.add(*this)),
      lanes_(mapped.lanes.size()),
      connections_(mapped.connections.size()),
      running_of_start_(mapped.starts.size()),
      ends_(mapped.lanes.size()) {
  require(slots >= schedule.least_slots(), "{} slots where the schedule needs {}", slots, schedule.least_slots());
  for (const LaneIndex lane : lanes_.ids()) {
    const AgentCost& cost = mapped.agent_costs[mapped.lanes[lane].cost];
    lanes_[lane].element_size = cost.element_size.value_or(element_size);
    lanes_[lane].slots = cost.slots.value_or(slots);
  }
  substrate.serve(*this);
}

void Executor::repeat(const CallLoop& loop) {
  loop_ = loop;
  kernels_.emplace(mapped_, schedule_.agent_count().ranks);
}

void Executor::start(Time launch) {
  launch_ = finish_ = launch;
  running_lanes_ = static_cast<std::uint32_t>(lanes_.size());
  for (const MappedSchedule::Lane& lane : mapped_.lanes) { ++running_of_start_[lane.start]; }
  for (const StartIndex start : mapped_.starts.ids()) {
    awaited_starts_.push_back(static_cast<std::uint32_t>(mapped_.starts[start].after.size()));
    if (awaited_starts_.back() == 0) { launch_at(launch, start); }
  }
}

void Executor::launch_at(Time when, StartIndex start) {
  ++pending_launches_;
  const Time then = std::max(when, launch_ + mapped_.starts[start].begin);
  const std::uint64_t event = event_of(Awaited::launch, start);
  for (ExecutionObserver* each : observers_) { each->starts(event, then - simulator_.now()); }
  simulator_.at(then, id_, event);
}

void Executor::on_event(std::uint64_t event) {
  if (kind_of(event) == Awaited::next_call) { return next_call(KernelIndex{static_cast<std::uint32_t>(event)}); }
  for (ExecutionObserver* each : observers_) { each->happens(event, simulator_.now()); }
  launch(StartIndex{static_cast<std::uint32_t>(event)});
  drain();
}

void Executor::launch(StartIndex start) {
  --pending_launches_;
  bool any = false;
  for (const LaneIndex lane : lanes_.ids()) {
    if (mapped_.lanes[lane].start != start) { continue; }
    any = true;
    if (mapped_.lanes[lane].loops > 0 && mapped_.lanes[lane].steps > 0) {
      load(lane);
    } else {
      lane_ended(lane);
    }
  }
  if (!any) { start_ended(start); }
  substrate_.launched();
}

void Executor::lane_ended(LaneIndex lane) {
  for (ExecutionObserver* each : observers_) { each->lane_ended(lane); }
  lanes_[lane].phase = Phase::ended;
  ends_[lane] = finish_ = simulator_.now();
  --running_lanes_;
  if (--running_of_start_[mapped_.lanes[lane].start] == 0) { start_ended(mapped_.lanes[lane].start); }
}

/// The last lane of a rank to do so decides when all of them go on.
void Executor::call_ended(LaneIndex lane) {
  LaneState& state = lanes_[lane];
  state.step = 0;
  ++state.call;
  state.loop = 0;
  const std::optional<KernelIndex> kernel = kernels_->of(lane);
  if (kernel) {
    state.phase = Phase::unlaunched;
  } else {
    load(lane);
  }
  for (ExecutionObserver* each : observers_) { each->call_ended(lane); }
  if (!kernel || !kernels_->lane_ended(*kernel)) { return; }
  kernels_->due(*kernel) = simulator_.now() + loop_.gap;
  simulator_.at(kernels_->due(*kernel), id_, event_of(Awaited::next_call, *kernel));
}

void Executor::next_call(KernelIndex kernel) {
  for (const LaneIndex lane : kernels_->lanes(kernel)) { load(lane); }
  drain();
}

/// Whoever waited for all of these lanes begins.
void Executor::start_ended(StartIndex start) {
  for (const StartIndex next : mapped_.starts.ids()) {
    const auto& after = mapped_.starts[next].after;
    const auto times = static_cast<std::uint32_t>(std::count(after.begin(), after.end(), start));
    if (times > 0 && (awaited_starts_[next] -= times) == 0) { launch_at(simulator_.now(), next); }
  }
}

void Executor::load(LaneIndex lane) {
  LaneState& state = lanes_[lane];
  const MappedSchedule::Lane& mapped = mapped_.lanes[lane];
  const Primitive primitive = schedule_.at(mapped.agent, mapped.lane, state.loop, state.step);
  const PrimitiveUse use = use_of(primitive, mapped, state.element_size);
  state.bytes = use.bytes;
  state.receives = use.receives;
  state.sends = use.sends;
  state.inputs = use.inputs;
  state.wait_lane = kNobody;
  if (primitive.wait) {
    state.wait_lane = mapped_.lane(mapped.agent, primitive.wait->lane);
    state.wait_ended = primitive.wait->ended + state.call * primitives_of(state.wait_lane);
  }
  state.phase = Phase::waiting;
  count_missing(lane);
}

void Executor::count_missing(LaneIndex lane) {
  LaneState& state = lanes_[lane];
  state.missing = 1;  // held until all are counted
  for (const ConnectionId connection : receives_of(lane)) {
    if (connections_[connection].available == 0) { ++state.missing; }
  }
  for (const ConnectionId connection : sends_of(lane)) {
    if (connections_[connection].held == state.slots) { ++state.missing; }
  }
  if (state.wait_lane != kNobody && lanes_[state.wait_lane].primitives_ended < state.wait_ended) {
    ++state.missing;
    state.next_waiter = std::exchange(lanes_[state.wait_lane].first_waiter, lane);
  }
  met(lane);
}

void Executor::met(LaneIndex lane) {
  if (--lanes_[lane].missing == 0) { substrate_.ready(lane); }
}

/// Lanes begin one after the other rather than one inside the other, so that long chains need no deep stack.
void Executor::drain() {
  if (draining_) { return; }
  draining_ = true;
  std::size_t next = 0;
  while (next < ready_.size()) { begin(ready_[next++]); }  // grows meanwhile
  ready_.clear();
  draining_ = false;
}

void Executor::begin(LaneIndex lane) {
  LaneState& state = lanes_[lane];
  ++primitives_;
  state.phase = Phase::working;
  state.begin_time = simulator_.now();
  state.unended = 1;
  for (const ConnectionId connection : sends_of(lane)) { ++connections_[connection].held; }
  substrate_.begin(lane);
}

void Executor::end(LaneIndex lane) {
  if (substrate_.calls().ending) { substrate_.ending(lane); }
  for (const ConnectionId connection : receives_of(lane)) {
    --connections_[connection].available;
    slot_freed(connection);
  }
  ++lanes_[lane].primitives_ended;
  if (!observers_.empty()) { tell_end(lane); }
  wake_waiters(lane);
  advance(lane);
  if (substrate_.calls().wake) { substrate_.released(lane); }
}

void Executor::wake_waiters(LaneIndex lane) {
  LaneState& state = lanes_[lane];
  for (LaneIndex waiter = std::exchange(state.first_waiter, kNobody); waiter != kNobody;) {
    const LaneIndex next = std::exchange(lanes_[waiter].next_waiter, kNobody);
    if (state.primitives_ended >= lanes_[waiter].wait_ended) {
      met(waiter);
      if (substrate_.calls().wake) { substrate_.wake(waiter, lane); }
    } else {
      lanes_[waiter].next_waiter = std::exchange(state.first_waiter, waiter);
    }
    waiter = next;
  }
}

void Executor::tell_end(LaneIndex lane) const {
  const LaneState& state = lanes_[lane];
  const EndedPrimitive ended{lane,        state.loop,           state.step,        state.begin_time, simulator_.now(),
                             state.bytes, state.receives.count, state.sends.count, state.inputs};
  for (ExecutionObserver* each : observers_) { each->primitive_ended(ended); }
}

void Executor::advance(LaneIndex lane) {
  LaneState& state = lanes_[lane];
  if (++state.step == mapped_.lanes[lane].steps) {
    state.step = 0;
    ++state.loop;
    if (state.loop == mapped_.lanes[lane].loops) {
      return state.call + 1 < loop_.calls ? call_ended(lane) : lane_ended(lane);
    }
    for (ExecutionObserver* each : observers_) { each->loop_ended(lane); }
  }
  load(lane);
}

/// A lane that has not begun may have missed that slot.
void Executor::slot_freed(ConnectionId connection) {
  const LaneIndex lane = mapped_.connections[connection].source_lane;
  const LaneState& state = lanes_[lane];
  const std::uint32_t port = connection.value - mapped_.lanes[lane].first_out.value;
  const bool awaited = state.phase == Phase::waiting && port - state.sends.first < state.sends.count;
  if (connections_[connection].held-- == state.slots && awaited) { met(lane); }
  if (substrate_.calls().wake) { substrate_.wake(lane, mapped_.connections[connection].target_lane); }
}

void Executor::usable(ConnectionId connection) {
  const LaneIndex lane = mapped_.connections[connection].target_lane;
  const LaneState& state = lanes_[lane];
  const std::uint32_t port = mapped_.connections[connection].target_port;
  const bool awaited = state.phase == Phase::waiting && port - state.receives.first < state.receives.count;
  if (connections_[connection].available++ == 0 && awaited) { met(lane); }
  if (substrate_.calls().wake) { substrate_.wake(lane, lane); }
}

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
  if (known.end > now) { return std::min<std::uint64_t>(known.end - now, limit); }
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

std::string Executor::why_not_started(LaneIndex lane) const {
  const MappedSchedule::Lane& mapped = mapped_.lanes[lane];
  const LaneState& state = lanes_[lane];
  std::string text = fmt::format("{} lane {} loop {} step {}", agent_name(schedule_, mapped.agent), mapped.lane.value,
                                 state.loop, state.step);
  if (state.phase == Phase::unlaunched) { return text + " waits for the job before it to end"; }
  if (state.phase != Phase::waiting) { return text + " has begun and does not end"; }
  for (const ConnectionId connection : receives_of(lane)) {
    if (connections_[connection].available > 0) { continue; }
    const MappedSchedule::Lane& sender = mapped_.lanes[mapped_.connections[connection].source_lane];
    text +=
        fmt::format(", waits for a message from {} lane {}", agent_name(schedule_, sender.agent), sender.lane.value);
  }
  for (const ConnectionId connection : sends_of(lane)) {
    if (connections_[connection].held < slots(connection)) { continue; }
    const MappedSchedule::Lane& receiver = mapped_.lanes[mapped_.connections[connection].target_lane];
    text += fmt::format(", waits for one of {} slots towards {} lane {}", slots(connection),
                        agent_name(schedule_, receiver.agent), receiver.lane.value);
  }
  if (state.wait_lane != kNobody && lanes_[state.wait_lane].primitives_ended < state.wait_ended) {
    text += fmt::format(", waits until its lane {} has ended {} primitives (now {})",
                        mapped_.lanes[state.wait_lane].lane.value, state.wait_ended,
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
  for (const LaneIndex lane : lanes_.ids()) {
    if (lanes_[lane].phase == Phase::ended || named == kNamed) { continue; }
    text += "\n  " + why_not_started(lane);
    ++named;
  }
  if (running_lanes_ > named) { text += fmt::format("\n  and {} more", running_lanes_ - named); }
  throw SimulationError("deadlock", text);
}

}  // namespace athanor
