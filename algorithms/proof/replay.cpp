#include "algorithms/proof/replay.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace athanor {

Replay::Replay(const Schedule& schedule, const Wiring& wiring, std::uint32_t slots)
    : schedule_(schedule),
      wiring_(wiring),
      slots_(slots),
      agent_count_(schedule.agent_count()),
      lanes_(wiring.lanes.size()),
      connections_(wiring.receivers.size()),
      messages_(wiring.receivers.size() * slots),
      waiters_(wiring.lanes.size()) {
  for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) { lanes_[lane].total = wiring.lanes[lane].primitives(); }
}

std::optional<Violation> Replay::run() {
  for (auto lane = static_cast<std::uint32_t>(lanes_.size()); lane > 0; --lane) { enqueue(lane - 1); }
  while (!queue_.empty()) {
    const std::uint32_t lane = queue_.back();
    queue_.pop_back();
    lanes_[lane].queued = false;
    if (auto violation = advance(lane)) { return violation; }
  }
  const bool all = std::all_of(lanes_.begin(), lanes_.end(), [](const Running& l) { return l.ended == l.total; });
  return all ? unreceived() : stuck();
}

void Replay::enqueue(std::uint32_t lane) {
  if (lanes_[lane].queued) { return; }
  lanes_[lane].queued = true;
  queue_.push_back(lane);
}

/// As many primitives of the lane as can run.
std::optional<Violation> Replay::advance(std::uint32_t lane) {
  Running& state = lanes_[lane];
  while (state.ended < state.total) {
    if (!state.loaded) { load(lane); }
    const Execution next = execution(lane);
    if (!ready(lane, next)) { return std::nullopt; }
    if (auto violation = receive(next)) { return violation; }
    for (Observer* observer : observers_) { observer->on_primitive(next); }
    send(next);
    end(lane);
  }
  return std::nullopt;
}

void Replay::load(std::uint32_t lane) {
  Running& state = lanes_[lane];
  const WiredLane& wired = wiring_.lanes[lane];
  state.primitive = schedule_.at(wired.agent, wired.lane, state.loop, state.step);
  state.loaded = true;
}

Execution Replay::execution(std::uint32_t lane) const {
  const Running& state = lanes_[lane];
  const WiredLane& wired = wiring_.lanes[lane];
  const Ports& sends = state.primitive.sends;
  return {lane, state.ended, state.primitive, wired.first_in + state.primitive.receives.first,
          std::span(wiring_.outgoing).subspan(wired.first_out + sends.first, sends.count)};
}

bool Replay::ready(std::uint32_t lane, const Execution& next) {
  Running& state = lanes_[lane];
  if (const auto& wait = next.primitive.wait) {
    const std::uint32_t awaited = wiring_.index(wiring_.lanes[lane].agent, wait->lane);
    if (lanes_[awaited].ended < wait->ended) {
      if (state.obstacle != Obstacle::wait) { waiters_[awaited].push_back(lane); }
      state.obstacle = Obstacle::wait;
      state.obstructed = awaited;
      return false;
    }
  }
  for (std::uint32_t i = 0; i < next.primitive.receives.count; ++i) {
    state.obstructed = next.first_received + i;
    const Connection& connection = connections_[state.obstructed];
    state.obstacle = Obstacle::message;
    if (connection.sent == connection.received) { return false; }
  }
  for (const std::uint32_t sent : next.sent) {
    state.obstructed = sent;
    state.obstacle = Obstacle::slot;
    if (connections_[sent].sent - connections_[sent].received >= slots_) { return false; }
  }
  state.obstacle = Obstacle::none;
  return true;
}

std::optional<Violation> Replay::receive(const Execution& execution) {
  for (std::uint32_t i = 0; i < execution.primitive.receives.count; ++i) {
    Connection& connection = connections_[execution.first_received + i];
    const std::uint32_t sender = wiring_.senders[execution.first_received + i];
    const Message& message =
        messages_[(execution.first_received + i) * std::uint64_t{slots_} + connection.received % slots_];
    if (message.count != execution.primitive.count) {
      return Violation{
          ViolationKind::matching, place(execution.lane),
          fmt::format("receives {} elements where {} sends {}", execution.primitive.count.count(),
                      describe(agent_count_, wiring_.lanes[sender].place(message.index)), message.count.count())};
    }
    ++connection.received;
    const Running& state = lanes_[sender];
    if (state.obstacle == Obstacle::slot && state.obstructed == execution.first_received + i) { enqueue(sender); }
  }
  return std::nullopt;
}

void Replay::send(const Execution& execution) {
  for (const std::uint32_t sent : execution.sent) {
    Connection& connection = connections_[sent];
    messages_[sent * std::uint64_t{slots_} + connection.sent % slots_] = {execution.primitive.count, execution.index};
    ++connection.sent;
    const Running& receiver = lanes_[wiring_.receivers[sent]];
    if (receiver.obstacle == Obstacle::message && receiver.obstructed == sent) { enqueue(wiring_.receivers[sent]); }
  }
}

void Replay::end(std::uint32_t lane) {
  Running& state = lanes_[lane];
  ++state.ended;
  state.loaded = false;
  if (++state.step == wiring_.lanes[lane].shape.steps) {
    state.step = 0;
    ++state.loop;
  }
  std::erase_if(waiters_[lane], [&](std::uint32_t waiter) {
    if (lanes_[waiter].primitive.wait->ended > state.ended) { return false; }
    lanes_[waiter].obstacle = Obstacle::none;
    enqueue(waiter);
    return true;
  });
}

std::optional<Violation> Replay::unreceived() const {
  for (std::uint32_t connection = 0; connection < connections_.size(); ++connection) {
    const auto [sent, received] = connections_[connection];
    if (sent == received) { continue; }
    const WiredLane& sender = wiring_.lanes[wiring_.senders[connection]];
    const Message& message = messages_[connection * std::uint64_t{slots_} + received % slots_];
    return Violation{ViolationKind::matching, sender.place(message.index),
                     fmt::format("sends message {} of {} to {}, which receives only {}", received + 1, sent,
                                 text(wiring_.receivers[connection]), received)};
  }
  return std::nullopt;
}

/// A lane that waits for one that has ended, or a circle of lanes that wait for each other.
std::optional<Violation> Replay::stuck() const {
  std::vector<bool> seen(lanes_.size());
  const auto first = std::find_if(lanes_.begin(), lanes_.end(), [](const Running& l) { return l.ended < l.total; });
  auto lane = static_cast<std::uint32_t>(first - lanes_.begin());
  for (; !seen[lane]; lane = obstructor(lane)) {
    seen[lane] = true;
    if (auto violation = hopeless(lane)) { return violation; }
  }
  constexpr int kShown = 16;
  std::string circle = obstacle_text(lane);
  int length = 1;
  for (std::uint32_t next = obstructor(lane); next != lane; next = obstructor(next), ++length) {
    if (length < kShown) { circle += fmt::format("; {} {}", describe(agent_count_, place(next)), obstacle_text(next)); }
  }
  if (length > kShown) { circle += fmt::format("; and {} more, back to the first", length - kShown); }
  return Violation{ViolationKind::deadlock, place(lane),
                   fmt::format("with {} slot{} {}", slots_, slots_ == 1 ? "" : "s", circle)};
}

std::optional<Violation> Replay::hopeless(std::uint32_t lane) const {
  const std::uint32_t other = obstructor(lane);
  if (lanes_[other].ended < lanes_[other].total) { return std::nullopt; }
  return Violation{ViolationKind::matching, place(lane), obstacle_text(lane) + ", which has ended"};
}

std::uint32_t Replay::obstructor(std::uint32_t lane) const {
  const Running& state = lanes_[lane];
  switch (state.obstacle) {
    case Obstacle::message: return wiring_.senders[state.obstructed];
    case Obstacle::slot: return wiring_.receivers[state.obstructed];
    case Obstacle::wait:
    case Obstacle::none: break;
  }
  return state.obstructed;
}

std::string Replay::obstacle_text(std::uint32_t lane) const {
  const Running& state = lanes_[lane];
  const std::string other = text(obstructor(lane));
  switch (state.obstacle) {
    case Obstacle::message:
      return fmt::format("waits for message {} of {}", connections_[state.obstructed].received + 1, other);
    case Obstacle::slot:
      return fmt::format("waits for a slot to send message {} to {}", connections_[state.obstructed].sent + 1, other);
    case Obstacle::wait:
      return fmt::format("waits until {} has ended {} primitives", other, state.primitive.wait->ended);
    case Obstacle::none: break;
  }
  return "could run";
}

StepPlace Replay::place(std::uint32_t lane) const { return wiring_.lanes[lane].place(lanes_[lane].ended); }

std::string Replay::text(std::uint32_t lane) const {
  const WiredLane& wired = wiring_.lanes[lane];
  return describe(agent_count_, StepPlace{wired.agent, wired.lane, {}, {}});
}

}  // namespace athanor
