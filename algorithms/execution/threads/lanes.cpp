#include "algorithms/execution/threads/lanes.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "algorithms/proof/violation.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

constexpr std::size_t kLine = 64;  ///< bytes of a line of the cache

}  // namespace

Lanes::Lanes(const Schedule& schedule, const Wiring& wiring, const Reducer& reducer, std::vector<AgentMemory> memory,
             const MessageRoom& room)
    : schedule_(schedule),
      wiring_(wiring),
      agent_count_(schedule.agent_count()),
      reducer_(reducer),
      memory_(std::move(memory)),
      room_(room),
      references_(schedule, wiring, reducer.kernels.finish != nullptr, room.may_refer),
      lanes_(wiring.lanes.size()),
      connections_(wiring.receivers.size()),
      messages_(wiring.receivers.size() * std::size_t{room.slots}) {
  for (std::uint32_t lane = 0; lane < count(); ++lane) { lanes_[lane].total = wiring_.lanes[lane].primitives(); }
  make_room();
  find_wakes();
}

/// Slots of whole lines, in one piece of memory that is not touched before it is used.
void Lanes::make_room() {
  std::size_t total = 0;
  for (std::uint32_t i = 0; i < connections_.size(); ++i) {
    const std::size_t bytes = static_cast<std::size_t>(references_.copied(i).count()) * reducer_.kernels.size;
    connections_[i].slot_bytes = (bytes + kLine - 1) / kLine * kLine;
    total += connections_[i].slot_bytes * room_.slots;
  }
  bytes_ = std::make_unique_for_overwrite<std::byte[]>(total + kLine);
  const auto address = reinterpret_cast<std::uintptr_t>(bytes_.get());
  std::byte* free = bytes_.get() + (kLine - address % kLine);
  for (Connection& connection : connections_) {
    connection.room = free;
    free += connection.slot_bytes * room_.slots;
  }
}

void Lanes::find_wakes() {
  for (std::uint32_t lane = 0; lane < count(); ++lane) {
    const WiredLane& wired = wiring_.lanes[lane];
    for (std::uint64_t index = 0; index < wired.primitives(); ++index) {
      const auto wait = wired.at(schedule_, index).wait;
      if (!wait || wait->ended == 0) { continue; }
      lanes_[wiring_.index(wired.agent, wait->lane)].wakes.push_back({wait->ended, lane});
    }
  }
  for (State& state : lanes_) {
    std::sort(state.wakes.begin(), state.wakes.end(), [](const Wake& a, const Wake& b) { return a.ended < b.ended; });
  }
}

void Lanes::reset() {
  for (State& state : lanes_) {
    state.index = 0;
    state.loop = 0;
    state.step = 0;
    state.loaded = false;
    state.woken = 0;
    state.ended.store(0, std::memory_order_relaxed);
  }
  for (Connection& connection : connections_) {
    connection.sent.store(0, std::memory_order_relaxed);
    connection.received.store(0, std::memory_order_relaxed);
  }
}

bool Lanes::advance(std::uint32_t lane, const WakeLane& wake, const std::atomic<bool>& stop) {
  State& state = lanes_[lane];
  while (state.index < state.total) {
    if (!state.loaded) { load(lane); }
    if (stop.load(std::memory_order_relaxed)) { return false; }
    if (!ready(lane)) { return false; }
    execute(lane);
    publish(lane, wake);
    end(lane, wake);
  }
  return true;
}

void Lanes::load(std::uint32_t lane) {
  State& state = lanes_[lane];
  const WiredLane& wired = wiring_.lanes[lane];
  state.primitive = schedule_.at(wired.agent, wired.lane, state.loop, state.step);
  state.loaded = true;
}

bool Lanes::ready(std::uint32_t lane) const {
  const Primitive& primitive = lanes_[lane].primitive;
  const WiredLane& wired = wiring_.lanes[lane];
  if (const auto& wait = primitive.wait) {
    // Acquire: what that lane stored may now be read, and its operands overwritten.
    const State& awaited = lanes_[wiring_.index(wired.agent, wait->lane)];
    if (awaited.ended.load(std::memory_order_acquire) < wait->ended) { return false; }
  }
  for (std::uint32_t port = 0; port < primitive.receives.count; ++port) {
    const Connection& connection = connections_[wired.first_in + primitive.receives.first + port];
    // Acquire: the message may now be read. The other counter is this lane's own.
    const std::uint64_t sent = connection.sent.load(std::memory_order_acquire);
    if (sent == connection.received.load(std::memory_order_relaxed)) { return false; }
  }
  for (std::uint32_t port = 0; port < primitive.sends.count; ++port) {
    const Connection& connection = connections_[outgoing(lane, primitive.sends.first + port)];
    // Acquire: the receiver has read the slot that will now be written.
    const std::uint64_t received = connection.received.load(std::memory_order_acquire);
    if (connection.sent.load(std::memory_order_relaxed) - received >= room_.slots) { return false; }
  }
  return true;
}

void Lanes::execute(std::uint32_t lane) {
  State& state = lanes_[lane];
  state.sources.clear();
  state.targets.clear();
  state.outgoing.clear();
  state.received_lasts = false;
  receive(lane);
  send(lane);
  const Primitive& primitive = state.primitive;
  if (primitive.count == Elements::zero()) { return; }
  const WiredLane& wired = wiring_.lanes[lane];
  apply(reducer_, {wired.agent, wired.lane, state.index}, primitive, state.sources, state.targets);
}

void Lanes::receive(std::uint32_t lane) {
  State& state = lanes_[lane];
  const Primitive& primitive = state.primitive;
  const WiredLane& wired = wiring_.lanes[lane];
  for (const auto& operand : primitive.operands) {
    if (!operand || primitive.count == Elements::zero()) { continue; }
    state.sources.push_back(memory_[wired.agent.value].source(*operand, reducer_.kernels.size));
  }
  for (std::uint32_t port = 0; port < primitive.receives.count; ++port) {
    const std::uint32_t connection = wired.first_in + primitive.receives.first + port;
    const Message& message = slot(connection, connections_[connection].received.load(std::memory_order_relaxed));
    if (message.count != primitive.count) {
      const Violation violation{
          ViolationKind::matching, wired.place(state.index),
          fmt::format("receives {} elements where {} has sent {}", primitive.count.count(),
                      athanor::describe(agent_count_, wiring_.lanes[wiring_.senders[connection]].agent),
                      message.count.count())};
      throw SimulationError("matching", explain(agent_count_, violation));
    }
    state.received_lasts = message.lasting;
    if (primitive.count > Elements::zero()) { state.sources.push_back({message.data, 0, 0}); }
  }
}

/// A message refers to cells, passes on what was received, or is written into its slot.
void Lanes::send(std::uint32_t lane) {
  State& state = lanes_[lane];
  const Primitive& primitive = state.primitive;
  const bool empty = primitive.count == Elements::zero();
  if (primitive.store && !empty) {
    state.targets.push_back(memory_[wiring_.lanes[lane].agent.value].target(*primitive.store, reducer_.kernels.size));
  }
  const References::Origin origin = references_.origin(lane, state.index);
  const bool changed = primitive.inputs() != 1 || (primitive.finish && reducer_.kernels.finish != nullptr);
  const bool passes_on = state.received_lasts && !changed && primitive.receives.count == 1;
  for (std::uint32_t port = 0; port < primitive.sends.count; ++port) {
    Message message{nullptr, primitive.count, true};
    if (origin == References::Origin::store) {
      message.data = state.targets.front().data;
    } else if (origin == References::Origin::operand || (passes_on && !empty)) {
      message.data = state.sources.front().data;
    } else if (!empty) {
      message.lasting = false;
      state.targets.push_back({free_slot(outgoing(lane, primitive.sends.first + port)), 0, 0});
      message.data = state.targets.back().data;
    }
    state.outgoing.push_back(message);
  }
}

std::byte* Lanes::free_slot(std::uint32_t connection) const {
  const Connection& to = connections_[connection];
  return to.room + to.sent.load(std::memory_order_relaxed) % room_.slots * to.slot_bytes;
}

void Lanes::publish(std::uint32_t lane, const WakeLane& wake) {
  State& state = lanes_[lane];
  const WiredLane& wired = wiring_.lanes[lane];
  for (std::uint32_t port = 0; port < state.primitive.sends.count; ++port) {
    const std::uint32_t connection = outgoing(lane, state.primitive.sends.first + port);
    std::atomic<std::uint64_t>& sent = connections_[connection].sent;
    const std::uint64_t number = sent.load(std::memory_order_relaxed);
    slot(connection, number) = state.outgoing[port];
    sent.store(number + 1, std::memory_order_release);  // the message and what it refers to are written
    wake(wiring_.receivers[connection]);
  }
  for (std::uint32_t port = 0; port < state.primitive.receives.count; ++port) {
    const std::uint32_t connection = wired.first_in + state.primitive.receives.first + port;
    std::atomic<std::uint64_t>& received = connections_[connection].received;
    // Release: the slot has been read.
    received.store(received.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    wake(wiring_.senders[connection]);
  }
}

void Lanes::end(std::uint32_t lane, const WakeLane& wake) {
  State& state = lanes_[lane];
  state.loaded = false;
  ++state.index;
  if (++state.step == wiring_.lanes[lane].shape.steps) {
    state.step = 0;
    ++state.loop;
  }
  state.ended.store(state.index, std::memory_order_release);  // the store is done and the operands are read
  for (; state.woken < state.wakes.size() && state.wakes[state.woken].ended <= state.index; ++state.woken) {
    wake(state.wakes[state.woken].lane);
  }
}

std::string Lanes::describe(std::uint32_t lane) const {
  const WiredLane& wired = wiring_.lanes[lane];
  const State& state = lanes_[lane];
  return fmt::format("{} {}", athanor::describe(agent_count_, wired.place(state.index)), obstacle(lane));
}

std::string Lanes::obstacle(std::uint32_t lane) const {
  const auto text = [&](std::uint32_t other) {
    const WiredLane& wired = wiring_.lanes[other];
    return athanor::describe(agent_count_, StepPlace{wired.agent, wired.lane, {}, {}});
  };
  const WiredLane& wired = wiring_.lanes[lane];
  const State& state = lanes_[lane];
  if (!state.loaded || ready(lane)) { return "could run"; }
  if (const auto& wait = state.primitive.wait) {
    const std::uint32_t awaited = wiring_.index(wired.agent, wait->lane);
    if (lanes_[awaited].index < wait->ended) {
      return fmt::format("waits until {} has ended {} primitives", text(awaited), wait->ended);
    }
  }
  for (std::uint32_t port = 0; port < state.primitive.receives.count; ++port) {
    const std::uint32_t connection = wired.first_in + state.primitive.receives.first + port;
    const std::uint64_t received = connections_[connection].received.load(std::memory_order_relaxed);
    if (connections_[connection].sent.load(std::memory_order_relaxed) == received) {
      return fmt::format("waits for message {} of {}", received + 1, text(wiring_.senders[connection]));
    }
  }
  for (std::uint32_t port = 0; port < state.primitive.sends.count; ++port) {
    const std::uint32_t connection = outgoing(lane, state.primitive.sends.first + port);
    const std::uint64_t sent = connections_[connection].sent.load(std::memory_order_relaxed);
    if (sent - connections_[connection].received.load(std::memory_order_relaxed) >= room_.slots) {
      return fmt::format("waits for a slot to send message {} to {}", sent + 1, text(wiring_.receivers[connection]));
    }
  }
  return "could run";
}

}  // namespace athanor
