#include "models/execution/rendezvous.hpp"

#include <algorithm>

namespace athanor {

bool Rendezvous::is_needed(const MappedSchedule& mapped) {
  return std::any_of(mapped.connection_costs.begin(), mapped.connection_costs.end(),
                     [](const ConnectionCost& cost) { return cost.handshake > Time::zero(); });
}

Rendezvous::Rendezvous(Simulator& simulator, const MappedSchedule& mapped, Network& beneath)
    : simulator_(simulator),
      mapped_(mapped),
      beneath_(beneath),
      id_(simulator.add(*this)),
      waiting_(mapped.connections.size()) {}

void Rendezvous::move(std::uint32_t connection, Bytes size) {
  const ConnectionCost& cost = mapped_.connection_costs[mapped_.connections[connection].cost];
  std::deque<Message>& waiting = waiting_[connection];
  Time due = simulator_.now() + (size > cost.eager ? cost.handshake : Time::zero());
  if (!waiting.empty()) { due = std::max(due, waiting.back().due); }
  if (waiting.empty() && due == simulator_.now()) { return beneath_.move(connection, size); }
  waiting.push_back({size, due});
  simulator_.at(due, id_, connection);
}

void Rendezvous::on_event(std::uint64_t connection) {
  std::deque<Message>& waiting = waiting_[connection];
  const Message message = waiting.front();
  waiting.pop_front();
  beneath_.move(static_cast<std::uint32_t>(connection), message.size);
}

void Rendezvous::snapshot(std::vector<std::int64_t>& state) const {
  beneath_.snapshot(state);
  for (const std::deque<Message>& waiting : waiting_) {
    state.push_back(static_cast<std::int64_t>(waiting.size()));
    for (const Message& message : waiting) {
      state.push_back(message.size.count());
      state.push_back((message.due - simulator_.now()).count());
    }
  }
}

void Rendezvous::warp(Time by, std::int64_t times, const std::vector<Bytes>& carried_before) {
  beneath_.warp(by, times, carried_before);
  for (std::deque<Message>& waiting : waiting_) {
    for (Message& message : waiting) { message.due += by; }
  }
}

}  // namespace athanor
