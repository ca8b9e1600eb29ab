#include "models/execution/network_substrate.hpp"

#include <algorithm>
#include <utility>

#include "models/execution/executor.hpp"
#include "models/execution/primitive_costs.hpp"

namespace athanor {

namespace {

bool has_handshake(const ConnectionCost& cost) { return cost.handshake > Time::zero(); }
bool has_grain(const ConnectionCost& cost) { return cost.grain > Bytes::zero(); }
bool is_paced(const ConnectionCost& cost) {
  return cost.end == SendEnd::paced && cost.injection_rate != Bandwidth::max();
}

}  // namespace

NetworkSubstrate::NetworkSubstrate(Simulator& simulator, const MappedSchedule& mapped, const Fabric& fabric,
                                   const NetworkOptions& options, std::uint64_t seed)
    : Substrate({.ending = std::any_of(mapped.connection_costs.begin(), mapped.connection_costs.end(), has_grain)}),
      simulator_(simulator),
      mapped_(mapped),
      fabric_(fabric),
      id_(simulator.add(*this)),
      beneath_(simulator, mapped.network, fabric, options, seed, *this),
      network_(beneath_.network()),
      has_grains_(calls().ending),
      has_pace_(std::any_of(mapped.connection_costs.begin(), mapped.connection_costs.end(), is_paced)),
      lanes_(mapped.lanes.size()),
      connections_(mapped.connections.size()) {
  const std::vector<ConnectionCost>& costs = mapped.connection_costs;
  if (std::any_of(costs.begin(), costs.end(), has_handshake)) { asking_.resize(connections_.size()); }
}

void NetworkSubstrate::observe(ExecutionObserver& observer) {
  observers_.push_back(&observer);
  observer.begins_on(mapped_.network, fabric_);
}

void NetworkSubstrate::ready(LaneIndex lane) { executor_->queue(lane); }

void NetworkSubstrate::on_event(std::uint64_t event) {
  const LaneIndex lane{static_cast<std::uint32_t>(event)};
  const ConnectionId connection{lane.value};
  if (kind_of(event) == Awaited::handshake) { return move_asking(connection); }
  for (ExecutionObserver* each : observers_) { each->happens(event, simulator_.now()); }
  switch (kind_of(event)) {
    case Awaited::launch:  // the executor's
    case Awaited::next_call:
    case Awaited::handshake: break;
    case Awaited::send: send(lane); break;
    case Awaited::work_done:
    case Awaited::paced: executor_->part_ended(lane); break;
    case Awaited::release_sends: release_sends(lane); break;
    case Awaited::late_delivery: arrived(connection); break;
  }
  executor_->drain();
}

Time NetworkSubstrate::local_work(LaneIndex lane, const AgentCost& cost) const {
  const Executor::LaneState& state = executor_->lane(lane);
  return athanor::local_work({state.bytes, state.receives, state.sends, state.inputs}, cost);
}

/// Of what a primitive begins on.
void NetworkSubstrate::count_incomplete(LaneIndex lane) {
  LaneState& state = lanes_[lane];
  state.incomplete = 0;
  for (const ConnectionId connection : executor_->receives_of(lane)) {
    if (connections_[connection].complete == 0) { ++state.incomplete; }
  }
  state.unreleased = state.incomplete > 0;
  if (state.unreleased) { executor_->hold(lane); }
}

void NetworkSubstrate::begin(LaneIndex lane) {
  LaneState& state = lanes_[lane];
  if (has_grains_) { count_incomplete(lane); }
  const Executor::LaneState& primitive = executor_->lane(lane);
  const AgentCost& cost = mapped_.agent_costs[mapped_.lanes[lane].cost];
  const bool has_port = primitive.receives.count + primitive.sends.count > 0;
  const Time overhead = has_port ? cost.overhead : Time::zero();
  const Time work = local_work(lane, cost);
  Time before_sends = overhead;
  if (cost.overlapped && work > Time::zero() && primitive.sends.count > 0) {
    executor_->hold(lane);
    state.work_time = simulator_.now() + overhead + work;
    for (ExecutionObserver* each : observers_) { each->computes(event_of(Awaited::work_done, lane), overhead, work); }
    at(state.work_time, Awaited::work_done, lane);
  } else {
    before_sends += work;
  }
  state.send_time = simulator_.now() + before_sends;
  if (before_sends == Time::zero()) { return send(lane); }
  for (ExecutionObserver* each : observers_) {
    each->computes(event_of(Awaited::send, lane), overhead, before_sends - overhead);
  }
  at(state.send_time, Awaited::send, lane);
}

void NetworkSubstrate::ending(LaneIndex lane) {
  for (const ConnectionId connection : executor_->receives_of(lane)) { --connections_[connection].complete; }
}

Bytes NetworkSubstrate::wire_bytes(ConnectionId connection, Bytes payload) const {
  return athanor::wire_bytes(payload, cost(connection));
}

void NetworkSubstrate::send(LaneIndex lane) {
  executor_->send(lane);
  const Bytes payload = executor_->lane(lane).bytes;
  for (const ConnectionId connection : executor_->sends_of(lane)) {
    const SendEnd end = cost(connection).end;
    if (end == SendEnd::injected || end == SendEnd::delivered) { executor_->hold(lane); }
    if (has_grains_) {
      ++connections_[connection].moved;
      connections_[connection].withheld = lanes_[lane].unreleased;
    }
    const Bytes bytes = wire_bytes(connection, payload);
    for (ExecutionObserver* each : observers_) { each->moves(connection, bytes); }
    move(connection, bytes);
  }
  if (has_pace_) { pace(lane); }
  executor_->part_ended(lane);
}

void NetworkSubstrate::move(ConnectionId connection, Bytes size) {
  if (asking_.empty()) { return network_.move(connection, size); }
  const ConnectionCost& cost = this->cost(connection);
  std::deque<Asking>& asking = asking_[connection];
  Time due = simulator_.now() + (size > cost.eager ? cost.handshake : Time::zero());
  if (!asking.empty()) { due = std::max(due, asking.back().due); }
  if (asking.empty() && due == simulator_.now()) { return network_.move(connection, size); }
  asking.push_back({size, due});
  at(due, Awaited::handshake, connection);
}

void NetworkSubstrate::move_asking(ConnectionId connection) {
  const Bytes size = asking_[connection].front().size;
  asking_[connection].pop_front();
  network_.move(connection, size);
}

/// The sender itself is done when the slowest of its sends would be, if links did not limit them.
void NetworkSubstrate::pace(LaneIndex lane) {
  Time longest;
  for (const ConnectionId connection : executor_->sends_of(lane)) {
    const ConnectionCost& cost = this->cost(connection);
    if (!is_paced(cost)) { continue; }
    longest = std::max(longest, transfer_time(executor_->lane(lane).bytes, cost.injection_rate));
  }
  if (longest == Time::zero()) { return; }
  executor_->hold(lane);
  lanes_[lane].pace_time = simulator_.now() + longest;
  for (ExecutionObserver* each : observers_) {
    each->sends(event_of(Awaited::paced, lane), executor_->sends_of(lane).first, longest);
  }
  at(lanes_[lane].pace_time, Awaited::paced, lane);
}

void NetworkSubstrate::injected(ConnectionId connection) {
  for (ExecutionObserver* each : observers_) { each->left(connection, simulator_.now()); }
  if (cost(connection).end != SendEnd::injected) { return; }
  executor_->part_ended(mapped_.connections[connection].source_lane);
  executor_->drain();
}

void NetworkSubstrate::grain_arrived(ConnectionId connection) {
  for (ExecutionObserver* each : observers_) { each->grain_arrived(connection, simulator_.now()); }
  executor_->usable(connection);
  executor_->drain();
}

void NetworkSubstrate::delivered(ConnectionId connection) {
  for (ExecutionObserver* each : observers_) { each->arrived(connection, simulator_.now()); }
  if (has_grains_) {
    complete(connection);
  } else {
    arrived(connection);
  }
  executor_->drain();
}

/// A message has been delivered: is it complete, too?
void NetworkSubstrate::complete(ConnectionId connection) {
  ConnectionState& state = connections_[connection];
  ++state.landed;
  if (state.withheld && state.landed == state.moved) {
    state.early = true;
  } else if (state.landed == state.late && simulator_.now() < state.not_before) {
    arrive_late(connection);
  } else {
    arrived(connection);
  }
}

void NetworkSubstrate::arrive_late(ConnectionId connection) {
  ConnectionState& state = connections_[connection];
  state.late_time = state.not_before;
  const std::uint64_t event = event_of(Awaited::late_delivery, connection);
  for (ExecutionObserver* each : observers_) { each->arrives_late(event, connection); }
  at(state.late_time, Awaited::late_delivery, connection);
}

/// The whole of a message is there, and complete.
void NetworkSubstrate::arrived(ConnectionId connection) {
  const MappedSchedule::Connection& mapped = mapped_.connections[connection];
  const ConnectionCost& cost = this->cost(connection);
  if (cost.grain == Bytes::zero()) { executor_->usable(connection); }
  if (has_grains_) {
    ++connections_[connection].complete;
    const Executor::LaneState& target = executor_->lane(mapped.target_lane);
    const bool in_use = target.begun() && mapped.target_port - target.receives.first < target.receives.count;
    if (cost.grain > Bytes::zero() && in_use && connections_[connection].complete == 1) {
      inputs_complete(mapped.target_lane);
    }
  }
  if (cost.end == SendEnd::delivered) { executor_->part_ended(mapped.source_lane); }
}

/// Until the last grain of a message has left, once its sender has it.
Time NetworkSubstrate::tail(ConnectionId connection, Bytes payload) const {
  const FlowGraph::Connection& pair = mapped_.network.pairs_of(connection).front();
  if (pair.cap == Bandwidth::max()) { return Time::zero(); }
  const Bytes part{ceil_div(wire_bytes(connection, payload).count(), mapped_.network.queue_pairs)};
  return transfer_time(std::min(pair.grain, part), pair.cap);
}

/// One more of the messages that a primitive began on has arrived whole. After the last one, its own last grain
/// still has to pass.
void NetworkSubstrate::inputs_complete(LaneIndex lane) {
  LaneState& state = lanes_[lane];
  if (--state.incomplete > 0) { return; }
  Time longest;
  for (const ConnectionId connection : executor_->sends_of(lane)) {
    longest = std::max(longest, tail(connection, executor_->lane(lane).bytes));
  }
  state.release_time = simulator_.now() + longest;
  const IdRange<ConnectionId> sends = executor_->sends_of(lane);
  const ConnectionId passed = sends.empty() ? executor_->receives_of(lane).front() : sends.first;
  for (ExecutionObserver* each : observers_) { each->passes(event_of(Awaited::release_sends, lane), passed, longest); }
  at(state.release_time, Awaited::release_sends, lane);
}

void NetworkSubstrate::release_sends(LaneIndex lane) {
  lanes_[lane].unreleased = false;
  const bool sending = executor_->lane(lane).phase == Executor::Phase::sending;
  for (const ConnectionId connection : executor_->sends_of(lane)) {
    if (!sending) { break; }
    ConnectionState& message = connections_[connection];
    message.withheld = false;
    message.late = message.moved;
    message.not_before = simulator_.now() + mapped_.network.latency(connection);
    for (ExecutionObserver* each : observers_) { each->released(connection); }
    if (std::exchange(message.early, false)) { arrive_late(connection); }
  }
  executor_->part_ended(lane);
}

void NetworkSubstrate::snapshot(std::vector<std::int64_t>& state) const {
  const Time now = simulator_.now();
  const auto relative = [now](Time when) { return when > now ? (when - now).count() : 0; };
  const auto pack = [](std::int64_t high, std::int64_t low) { return high << 32U | low; };
  for (const LaneState& lane : lanes_) {
    state.push_back(lane.incomplete << 1U | (lane.unreleased ? 1U : 0U));
    for (const Time due : {lane.send_time, lane.work_time, lane.pace_time, lane.release_time}) {
      state.push_back(relative(due));
    }
  }
  for (const ConnectionState& connection : connections_) {
    if (!has_grains_) { break; }
    state.push_back(pack(connection.complete, connection.moved - connection.landed));
    state.push_back((connection.withheld ? 2 : 0) | (connection.early ? 1 : 0));
    state.push_back(relative(connection.not_before));
    state.push_back(connection.not_before > now ? std::int64_t{connection.moved - connection.late} : 0);
    state.push_back(relative(connection.late_time));
  }
  for (const std::deque<Asking>& asking : asking_) {
    state.push_back(static_cast<std::int64_t>(asking.size()));
    for (const Asking& message : asking) {
      state.push_back(message.size.count());
      state.push_back((message.due - now).count());
    }
  }
  network_.snapshot(state);
}

void NetworkSubstrate::fast_forward(Time by, std::int64_t times, const CarriedBytes& carried_before) {
  for (LaneState& lane : lanes_) {
    for (Time* due : {&lane.send_time, &lane.work_time, &lane.pace_time, &lane.release_time}) { *due += by; }
  }
  for (ConnectionState& connection : connections_) {
    connection.not_before += by;
    connection.late_time += by;
  }
  for (std::deque<Asking>& asking : asking_) {
    for (Asking& message : asking) { message.due += by; }
  }
  network_.fast_forward(by, times, carried_before);
}

}  // namespace athanor
