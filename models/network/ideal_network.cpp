#include "models/network/ideal_network.hpp"

#include <algorithm>

#include "models/network/plan_check.hpp"
#include "sim/check.hpp"

namespace athanor {

IdealNetwork::IdealNetwork(Simulator& simulator, const NetworkPlan& plan, MoveListener& listener)
    : simulator_(simulator),
      listener_(listener),
      plan_(plan),
      carried_(plan.links.size()),
      alarm_(simulator, simulator.add(*this), 0) {
  check(plan_);
  connections_.reserve(plan_.connections.size());
  for (const NetworkPlan::Connection& given : plan_.connections) {
    connections_.push_back({given.latency, rate_alone(plan_, given), given.grain, Time::zero()});
  }
}

void IdealNetwork::move(ConnectionId connection, Bytes size) {
  require(size >= Bytes::zero(), "a message of {} bytes", size.count());
  Connection& self = connections_[connection];
  const Time start = std::max(simulator_.now(), self.free);
  self.free = start + injection_time(size, self.rate);
  agenda_.push({self.free, Notice::injected, connection, size.count()});
  if (self.grain > Bytes::zero()) {
    const Time grain = start + self.latency + injection_time(std::min(self.grain, size), self.rate);
    agenda_.push({grain, Notice::grain_arrived, connection});
  }
  agenda_.push({self.free + self.latency, Notice::delivered, connection});
  alarm_.set(agenda_.top().when);
}

void IdealNetwork::on_event(std::uint64_t) {
  alarm_.rang();
  while (!agenda_.empty() && agenda_.top().when == simulator_.now()) {
    const Agenda::Entry entry = agenda_.top();
    agenda_.pop();
    give(entry);
  }
  if (!agenda_.empty()) { alarm_.set(agenda_.top().when); }
}

void IdealNetwork::give(const Agenda::Entry& entry) {
  switch (entry.notice) {
    case Notice::injected: {
      const NetworkPlan::Connection& connection = plan_.connections[entry.connection];
      for (std::uint32_t u = connection.first_use; u < connection.first_use + connection.uses; ++u) {
        carried_[plan_.uses[u].link] += Bytes{entry.note} * plan_.uses[u].flows;
      }
      return listener_.injected(entry.connection);
    }
    case Notice::grain_arrived: return listener_.grain_arrived(entry.connection);
    case Notice::delivered: return listener_.delivered(entry.connection);
  }
}

Bytes IdealNetwork::carried(std::uint32_t link) const { return carried_[link]; }

void IdealNetwork::snapshot(std::vector<std::int64_t>& state) const {
  const Time now = simulator_.now();
  for (const Connection& connection : connections_) { state.push_back((std::max(connection.free, now) - now).count()); }
  agenda_.snapshot(now, state);
}

void IdealNetwork::warp(Time by, std::int64_t times, const std::vector<Bytes>& carried_before) {
  for (Connection& connection : connections_) { connection.free += by; }
  agenda_.warp(by);
  alarm_.warp(by);
  for (std::size_t link = 0; link < carried_.size(); ++link) {
    carried_[link] += (carried_[link] - carried_before[link]) * times;
  }
}

}  // namespace athanor
