#include "models/execution/executor.hpp"

#include <algorithm>
#include <utility>

#include "models/execution/critical_path.hpp"
#include "models/execution/processors.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

/// Of a lane whose ports may stand for several each: its primitives use all of them or none.
Ports all_or_none(const Ports& used, std::uint32_t ports) { return {0, used.count == 0 ? 0 : ports}; }

}  // namespace

Executor::Executor(Simulator& simulator, const MappedSchedule& plan, const Schedule& schedule, Bytes element_size,
                   std::uint32_t slots)
    : simulator_(simulator),
      plan_(plan),
      schedule_(schedule),
      id_(simulator.add(*this)),
      lanes_(plan.lanes.size()),
      connections_(plan.connections.size()),
      running_of_start_(plan.starts.size()),
      ends_(plan.lanes.size()) {
  require(slots >= schedule.least_slots(), "{} slots where the schedule needs {}", slots, schedule.least_slots());
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    const AgentCost& cost = plan.agent_costs[plan.lanes[lane].cost];
    lanes_[lane].element_size = cost.element_size.value_or(element_size);
    lanes_[lane].slots = cost.slots.value_or(slots);
  }
}

void Executor::on_event(std::uint64_t what) {
  const auto index = static_cast<std::uint32_t>(what);
  if (path_ != nullptr) { path_->happens(what, simulator_.now()); }
  switch (static_cast<Kind>(what >> 32U)) {
    case Kind::launch: launch(index); break;
    case Kind::send: send(index); break;
    case Kind::work_done:
    case Kind::paced: part_ended(index); break;
    case Kind::release_sends: release_sends(index); break;
    case Kind::late_delivery:
    case Kind::handed_over: arrived(index); break;
    case Kind::block_moves: move_by_block(index); break;
  }
  drain();
}

void Executor::load(std::uint32_t lane) {
  LaneState& state = lanes_[lane];
  const MappedSchedule::Lane& plan = plan_.lanes[lane];
  const Primitive primitive = schedule_.at(plan.agent, plan.lane, state.loop, state.step);
  state.bytes = Bytes{primitive.count.count() * state.element_size.count()};
  state.receives = plan.like_ins ? all_or_none(primitive.receives, plan.in_ports) : primitive.receives;
  state.sends = plan.like_outs ? all_or_none(primitive.sends, plan.out_ports) : primitive.sends;
  state.inputs = primitive.inputs();
  state.wait_lane = kNobody;
  if (primitive.wait) {
    state.wait_lane = plan_.lane_of[plan_.first_lane[plan.agent.value] + primitive.wait->lane.value];
    state.wait_ended = primitive.wait->ended;
  }
  state.phase = Phase::waiting;
  count_missing(lane);
}

void Executor::count_missing(std::uint32_t lane) {
  LaneState& state = lanes_[lane];
  const MappedSchedule::Lane& plan = plan_.lanes[lane];
  state.missing = 1;  // held until all are counted
  for (std::uint32_t i = 0; i < state.receives.count; ++i) {
    if (connections_[plan_.in_connections[plan.first_in + state.receives.first + i]].available == 0) {
      ++state.missing;
    }
  }
  for (std::uint32_t i = 0; i < state.sends.count; ++i) {
    if (connections_[plan.first_out + state.sends.first + i].held == state.slots) { ++state.missing; }
  }
  if (state.wait_lane != kNobody && lanes_[state.wait_lane].primitives_ended < state.wait_ended) {
    ++state.missing;
    state.next_waiter = std::exchange(lanes_[state.wait_lane].first_waiter, lane);
  }
  met(lane);
}

void Executor::met(std::uint32_t lane) {
  if (--lanes_[lane].missing == 0 && processors_ == nullptr) { ready_.push_back(lane); }
}

/// Lanes begin one after the other rather than one inside the other, so that long chains need no deep stack.
void Executor::drain() {
  draining_ = true;
  std::size_t next = 0;
  while (next < ready_.size()) { begin(ready_[next++]); }  // grows meanwhile
  ready_.clear();
  draining_ = false;
}

void Executor::begin_soon(std::uint32_t lane) {
  ready_.push_back(lane);
  if (!draining_) { drain(); }
}

Time Executor::local_work(const LaneState& state, const AgentCost& cost) {
  if (state.inputs > 1 && cost.reduce_rate != Bandwidth::max()) {
    return transfer_time(state.bytes * (state.inputs - 1), cost.reduce_rate);
  }
  const bool kept = state.receives.count > 0 && state.sends.count == 0;
  if (kept && cost.keep_rate != Bandwidth::max()) { return transfer_time(state.bytes, cost.keep_rate); }
  const bool local_copy = state.receives.count == 0 && state.sends.count == 0;
  if (local_copy && cost.copy_rate != Bandwidth::max()) { return transfer_time(state.bytes, cost.copy_rate); }
  return Time::zero();
}

void Executor::begin(std::uint32_t lane) {
  LaneState& state = lanes_[lane];
  const MappedSchedule::Lane& plan = plan_.lanes[lane];
  const AgentCost& cost = plan_.agent_costs[plan.cost];
  ++primitives_;
  state.phase = Phase::working;
  state.begin_time = simulator_.now();
  state.incomplete = 0;
  for (std::uint32_t i = 0; i < state.receives.count; ++i) {
    if (connections_[plan_.in_connections[plan.first_in + state.receives.first + i]].complete == 0) {
      ++state.incomplete;
    }
  }
  for (std::uint32_t i = 0; i < state.sends.count; ++i) { ++connections_[plan.first_out + state.sends.first + i].held; }
  state.unreleased = state.incomplete > 0;
  state.unended = 1 + (state.unreleased ? 1U : 0U);
  if (blocks_ != nullptr) { return at(simulator_.now() + blocks_->overhead(), Kind::block_moves, lane); }
  const bool has_port = state.receives.count + state.sends.count > 0;
  const Time overhead = has_port ? cost.overhead : Time::zero();
  const Time work = processors_ != nullptr ? processors_->work(lane, state.primitives_ended) : local_work(state, cost);
  Time before_sends = overhead;
  if (cost.overlapped && work > Time::zero() && state.sends.count > 0) {
    ++state.unended;
    state.work_time = simulator_.now() + overhead + work;
    if (path_ != nullptr) { path_->computes(code(Kind::work_done, lane), overhead, work); }
    at(state.work_time, Kind::work_done, lane);
  } else {
    before_sends += work;
  }
  state.send_time = simulator_.now() + before_sends;
  if (before_sends == Time::zero()) {
    send(lane);
  } else {
    if (path_ != nullptr) { path_->computes(code(Kind::send, lane), overhead, before_sends - overhead); }
    at(state.send_time, Kind::send, lane);
  }
}

void Executor::move_by_block(std::uint32_t lane) {
  const LaneState& state = lanes_[lane];
  const MappedSchedule::Lane& plan = plan_.lanes[lane];
  blocks_->move(lane, schedule_.at(plan.agent, plan.lane, state.loop, state.step));
}

void Executor::block_done(std::uint32_t lane) {
  send(lane);
  if (!draining_) { drain(); }
}

Bytes Executor::wire_bytes(std::uint32_t connection, Bytes payload) const {
  const ConnectionCost& cost = plan_.connection_costs[plan_.connections[connection].cost];
  if (cost.wire_numerator == cost.wire_denominator) { return payload; }
  return scaled_up(payload, {cost.wire_numerator, cost.wire_denominator});
}

void Executor::send(std::uint32_t lane) {
  LaneState& state = lanes_[lane];
  const std::uint32_t first = plan_.lanes[lane].first_out + state.sends.first;
  state.phase = Phase::sending;
  for (std::uint32_t connection = first; connection < first + state.sends.count; ++connection) {
    const SendEnd end = plan_.connection_costs[plan_.connections[connection].cost].end;
    if (end == SendEnd::injected || end == SendEnd::delivered) { ++state.unended; }
    if (processors_ != nullptr || blocks_ != nullptr) {
      hand_over(connection);
      continue;
    }
    ++connections_[connection].moved;
    connections_[connection].withheld = state.unreleased;
    const Bytes bytes = wire_bytes(connection, state.bytes);
    if (path_ != nullptr) { path_->moves(connection, bytes); }
    network_->move(connection, bytes);
  }
  pace(lane);
  part_ended(lane);
}

/// The sender itself is done when the slowest of its sends would be, if links did not limit them.
void Executor::pace(std::uint32_t lane) {
  LaneState& state = lanes_[lane];
  const std::uint32_t first = plan_.lanes[lane].first_out + state.sends.first;
  Time longest;
  for (std::uint32_t connection = first; connection < first + state.sends.count; ++connection) {
    const ConnectionCost& cost = plan_.connection_costs[plan_.connections[connection].cost];
    if (cost.end != SendEnd::paced || cost.pace == Bandwidth::max()) { continue; }
    longest = std::max(longest, transfer_time(state.bytes, cost.pace));
  }
  if (longest == Time::zero()) { return; }
  ++state.unended;
  state.pace_time = simulator_.now() + longest;
  if (path_ != nullptr) { path_->sends(code(Kind::paced, lane), first, longest); }
  at(state.pace_time, Kind::paced, lane);
}

/// In shared memory a message is there as soon as its receiver can know of it.
void Executor::hand_over(std::uint32_t connection) {
  const std::uint32_t from = plan_.connections[connection].source_lane;
  const std::uint32_t to = plan_.connections[connection].target_lane;
  const Time notice = blocks_ != nullptr ? blocks_->notice(from, to) : processors_->notice(from, to);
  if (notice == Time::zero()) { return arrived(connection); }
  at(simulator_.now() + notice, Kind::handed_over, connection);
}

void Executor::part_ended(std::uint32_t lane) {
  if (--lanes_[lane].unended == 0) { end(lane); }
}

void Executor::end(std::uint32_t lane) {
  LaneState& state = lanes_[lane];
  const MappedSchedule::Lane& plan = plan_.lanes[lane];
  for (std::uint32_t i = 0; i < state.receives.count; ++i) {
    const std::uint32_t connection = plan_.in_connections[plan.first_in + state.receives.first + i];
    --connections_[connection].available;
    --connections_[connection].complete;
    slot_freed(connection);
  }
  ++state.primitives_ended;
  if (recorder_ != nullptr) { tell_recorder(lane); }
  wake_waiters(lane);
  advance(lane);
  if (processors_ != nullptr) { processors_->released(lane); }
}

void Executor::wake_waiters(std::uint32_t lane) {
  LaneState& state = lanes_[lane];
  for (std::uint32_t waiter = std::exchange(state.first_waiter, kNobody); waiter != kNobody;) {
    const std::uint32_t next = std::exchange(lanes_[waiter].next_waiter, kNobody);
    if (state.primitives_ended >= lanes_[waiter].wait_ended) {
      met(waiter);
      wake(waiter, lane);
    } else {
      lanes_[waiter].next_waiter = std::exchange(state.first_waiter, waiter);
    }
    waiter = next;
  }
}

void Executor::tell_recorder(std::uint32_t lane) const {
  const LaneState& state = lanes_[lane];
  recorder_->primitive_ended({lane, state.loop, state.step, state.begin_time, simulator_.now(), state.bytes,
                              state.receives.count, state.sends.count, state.inputs});
}

void Executor::advance(std::uint32_t lane) {
  LaneState& state = lanes_[lane];
  if (++state.step == plan_.lanes[lane].steps) {
    state.step = 0;
    ++state.loop;
    if (state.loop == plan_.lanes[lane].loops) { return lane_ended(lane); }
    if (listener_ != nullptr) { listener_->loop_ended(lane); }
  }
  load(lane);
}

/// Whether a lane that has not begun misses a slot of this out-port.
bool Executor::waits_for_slot(const LaneState& lane, std::uint32_t port) {
  return lane.phase == Phase::waiting && port - lane.sends.first < lane.sends.count;
}

void Executor::slot_freed(std::uint32_t connection) {
  const std::uint32_t lane = plan_.connections[connection].source_lane;
  const std::uint32_t port = connection - plan_.lanes[lane].first_out;
  if (connections_[connection].held-- == slots(connection) && waits_for_slot(lanes_[lane], port)) { met(lane); }
  wake(lane, plan_.connections[connection].target_lane);
}

void Executor::wake(std::uint32_t lane, std::uint32_t by) {
  if (processors_ != nullptr) { processors_->wake(lane, by); }
}

void Executor::injected(std::uint32_t connection) {
  if (path_ != nullptr) { path_->left(connection, simulator_.now()); }
  if (plan_.connection_costs[plan_.connections[connection].cost].end == SendEnd::injected) {
    part_ended(plan_.connections[connection].source_lane);
    drain();
  }
}

void Executor::grain_arrived(std::uint32_t connection) {
  if (path_ != nullptr) { path_->grain_arrived(connection, simulator_.now()); }
  usable(connection);
  drain();
}

/// One more message is there on which a receiver may begin.
void Executor::usable(std::uint32_t connection) {
  const std::uint32_t lane = plan_.connections[connection].target_lane;
  const LaneState& state = lanes_[lane];
  const std::uint32_t port = plan_.connections[connection].target_port;
  const bool awaited = state.phase == Phase::waiting && port - state.receives.first < state.receives.count;
  if (connections_[connection].available++ == 0 && awaited) { met(lane); }
  wake(lane, lane);
}

void Executor::delivered(std::uint32_t connection) {
  if (path_ != nullptr) { path_->arrived(connection, simulator_.now()); }
  ConnectionState& state = connections_[connection];
  ++state.landed;
  if (state.withheld && state.landed == state.moved) {
    state.early = true;
  } else if (state.landed == state.late && simulator_.now() < state.not_before) {
    arrive_late(connection);
  } else {
    arrived(connection);
  }
  drain();
}

void Executor::arrive_late(std::uint32_t connection) {
  ConnectionState& state = connections_[connection];
  state.late_time = state.not_before;
  if (path_ != nullptr) { path_->arrives_late(code(Kind::late_delivery, connection), connection); }
  at(state.late_time, Kind::late_delivery, connection);
}

/// The whole of a message is there, and complete.
void Executor::arrived(std::uint32_t connection) {
  const MappedSchedule::Connection& plan = plan_.connections[connection];
  const ConnectionCost& cost = plan_.connection_costs[plan.cost];
  if (cost.grain == Bytes::zero()) { usable(connection); }
  ++connections_[connection].complete;
  const LaneState& target = lanes_[plan.target_lane];
  const bool in_use = (target.phase == Phase::working || target.phase == Phase::sending) &&
                      plan.target_port - target.receives.first < target.receives.count;
  if (cost.grain > Bytes::zero() && in_use && connections_[connection].complete == 1) {
    inputs_complete(plan.target_lane);
  }
  if (cost.end == SendEnd::delivered) { part_ended(plan.source_lane); }
}

/// One more of the messages that a primitive began on has arrived whole. After the last one, its own last grain
/// still has to pass.
void Executor::inputs_complete(std::uint32_t lane) {
  LaneState& state = lanes_[lane];
  if (--state.incomplete > 0) { return; }
  Time tail;
  for (std::uint32_t i = 0; i < state.sends.count; ++i) {
    const std::uint32_t connection = plan_.lanes[lane].first_out + state.sends.first + i;
    const NetworkPlan::Connection& network = plan_.network.pairs_of(connection).front();
    const Bytes part{ceil_div(wire_bytes(connection, state.bytes).count(), plan_.network.queue_pairs)};
    const Bytes grain = std::min(network.grain, part);
    if (network.cap != Bandwidth::max()) { tail = std::max(tail, transfer_time(grain, network.cap)); }
  }
  state.release_time = simulator_.now() + tail;
  if (path_ != nullptr) {
    const MappedSchedule::Lane& plan = plan_.lanes[lane];
    const std::uint32_t in = plan_.in_connections[plan.first_in + state.receives.first];
    path_->passes(code(Kind::release_sends, lane), state.sends.count > 0 ? plan.first_out + state.sends.first : in,
                  tail);
  }
  at(state.release_time, Kind::release_sends, lane);
}

void Executor::release_sends(std::uint32_t lane) {
  LaneState& state = lanes_[lane];
  state.unreleased = false;
  const std::uint32_t sent = state.phase == Phase::sending ? state.sends.count : 0;
  for (std::uint32_t i = 0; i < sent; ++i) {
    const std::uint32_t connection = plan_.lanes[lane].first_out + state.sends.first + i;
    ConnectionState& message = connections_[connection];
    message.withheld = false;
    message.late = message.moved;
    message.not_before = simulator_.now() + plan_.network.latency(connection);
    if (path_ != nullptr) { path_->released(connection); }
    if (std::exchange(message.early, false)) { arrive_late(connection); }
  }
  part_ended(lane);
}

}  // namespace athanor
