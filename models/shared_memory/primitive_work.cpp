#include "models/shared_memory/primitive_work.hpp"

#include <algorithm>

#include "sim/error.hpp"

namespace athanor {

namespace {

/// Memory of agents and slots begins at a page, as the executor's buffers do.
constexpr std::int64_t kPage = 4096;
constexpr std::int64_t kLine = 64;

std::int64_t rounded_up(std::int64_t bytes, std::int64_t unit) { return (bytes + unit - 1) / unit * unit; }

Wiring wired(const Schedule& schedule) {
  Wiring wiring;
  if (const auto violation = wire(schedule, wiring)) {
    throw SimulationError("wiring", explain(schedule.agent_count(), *violation));
  }
  return wiring;
}

}  // namespace

PrimitiveWork::PrimitiveWork(const Schedule& schedule, const ThreadCosts& costs, std::uint32_t processors,
                             Bytes element_size, std::uint32_t slots)
    : schedule_(schedule),
      costs_(costs),
      processors_(processors),
      element_size_(element_size.count()),
      slots_(slots),
      wiring_(wired(schedule)),
      references_(schedule, wiring_, false, true),
      caches_(costs, processors),
      connections_(wiring_.receivers.size()),
      messages_(wiring_.receivers.size() * std::size_t{slots}) {
  lay_out_memory();
}

void PrimitiveWork::lay_out_memory() {
  std::int64_t free = 0;
  for (std::uint32_t agent = 0; agent + 1 < wiring_.first_lane.size(); ++agent) {
    maps_.emplace_back(schedule_.memory(AgentId{agent}));
    bases_.push_back(free);
    free += rounded_up(maps_.back().size() * element_size_, kPage);
  }
  for (std::uint32_t i = 0; i < connections_.size(); ++i) {
    connections_[i].slot_bytes = rounded_up(references_.copied(i).count() * element_size_, kLine);
    connections_[i].room = free;
    free += connections_[i].slot_bytes * slots_;
  }
}

void PrimitiveWork::begin_again() {
  for (Connection& connection : connections_) { connection.sent = connection.received = 0; }
}

Time PrimitiveWork::of(std::uint32_t lane, std::uint64_t index) {
  const WiredLane& wired = wiring_.lanes[lane];
  const Primitive primitive = wired.at(schedule_, index);
  accesses_.clear();
  sources_ = targets_ = 0;
  received_ = {};
  Time time = costs_.primitive + ports(lane, primitive);
  receive(lane, primitive);
  send(lane, index, primitive);
  if (targets_ == 0) { accesses_.clear(); }  // a message that refers to an operand does not touch it
  time += caches_.access(processor(lane), accesses_);
  // What goes beyond two sources and one target passes block by block through the nearest cache.
  const Bytes bytes{primitive.count.count() * element_size_};
  if (targets_ > 0 && sources_ > 2) { time += caches_.again(bytes * (2 * (sources_ - 2))); }
  if (targets_ > 1) { time += caches_.again(bytes * (targets_ - 1)); }
  return time;
}

Time PrimitiveWork::ports(std::uint32_t lane, const Primitive& primitive) const {
  const WiredLane& wired = wiring_.lanes[lane];
  Time time;
  for (std::uint32_t i = 0; i < primitive.receives.count; ++i) {
    time += port(lane, wiring_.senders[wired.first_in + primitive.receives.first + i]);
  }
  for (std::uint32_t i = 0; i < primitive.sends.count; ++i) {
    time += port(lane, wiring_.receivers[wiring_.outgoing[wired.first_out + primitive.sends.first + i]]);
  }
  return time;
}

Time PrimitiveWork::port(std::uint32_t lane, std::uint32_t other) const {
  return processor(lane) == processor(other) ? costs_.port : costs_.remote_port;
}

std::int64_t PrimitiveWork::address(AgentId agent, const Cells& cells) const {
  return bases_[agent.value] + maps_[agent.value].address(cells, 0) * element_size_;
}

/// What a source or a target touches; memory that is both is touched once.
void PrimitiveWork::add(std::int64_t first, std::int64_t bytes, bool writes) {
  if (bytes == 0) { return; }
  for (Access& access : accesses_) {
    if (access.first != first || access.end != first + bytes) { continue; }
    access.reads = access.reads || !writes;
    access.writes = access.writes || writes;
    return;
  }
  accesses_.push_back({first, first + bytes, !writes, writes});
}

void PrimitiveWork::add(AgentId agent, const Cells& cells, Elements count, bool writes) {
  maps_[agent.value].each_run(cells, count, [&](std::int64_t first, std::int64_t length) {
    add(bases_[agent.value] + first * element_size_, length * element_size_, writes);
  });
}

void PrimitiveWork::receive(std::uint32_t lane, const Primitive& primitive) {
  const WiredLane& wired = wiring_.lanes[lane];
  for (const auto& operand : primitive.operands) {
    if (!operand) { continue; }
    add(wired.agent, *operand, primitive.count, false);
    ++sources_;
  }
  for (std::uint32_t i = 0; i < primitive.receives.count; ++i) {
    const std::uint32_t connection = wired.first_in + primitive.receives.first + i;
    received_ = slot(connection, connections_[connection].received++);
    add(received_.first, primitive.count.count() * element_size_, false);
    ++sources_;
  }
}

void PrimitiveWork::send(std::uint32_t lane, std::uint64_t index, const Primitive& primitive) {
  const WiredLane& wired = wiring_.lanes[lane];
  const std::int64_t bytes = primitive.count.count() * element_size_;
  if (primitive.store) {
    add(wired.agent, *primitive.store, primitive.count, true);
    ++targets_;
  }
  const References::Origin origin = references_.origin(lane, index);
  const bool passes_on = received_.lasting && primitive.inputs() == 1 && primitive.receives.count == 1;
  for (std::uint32_t i = 0; i < primitive.sends.count; ++i) {
    const std::uint32_t number = wiring_.outgoing[wired.first_out + primitive.sends.first + i];
    Connection& connection = connections_[number];
    Message message{0, true};
    if (origin == References::Origin::store) {
      message.first = address(wired.agent, *primitive.store);
    } else if (origin == References::Origin::operand) {
      message.first = address(wired.agent, *primitive.operands[0]);
    } else if (passes_on) {
      message = received_;
    } else if (bytes > 0) {
      message = {connection.room + static_cast<std::int64_t>(connection.sent % slots_) * connection.slot_bytes, false};
      add(message.first, bytes, true);
      ++targets_;
    }
    slot(number, connection.sent++) = message;
  }
}

}  // namespace athanor
