#include "models/execution/executor.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "models/execution/primitive_costs.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

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
