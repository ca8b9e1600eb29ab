#include "models/network/ideal_network.hpp"

#include <algorithm>

#include "models/network/network.hpp"
#include "sim/check.hpp"

namespace athanor {

IdealNetwork::IdealNetwork(Simulator& simulator, const FlowGraph& graph, MoveListener& listener)
    : simulator_(simulator),
      listener_(listener),
      graph_(graph),
      carried_(graph.links.size()),
      timer_(simulator, simulator.add(*this), 0) {
  check(graph_);
  connections_.reserve(graph_.connections.size());
  for (const FlowGraph::Connection& given : graph_.connections) {
    connections_.push_back({given.latency, rate_alone(graph_, given), given.grain, Time::zero()});
  }
}

void IdealNetwork::move(ConnectionId connection, Bytes size) {
  require(size >= Bytes::zero(), "a message of {} bytes", size.count());
  Connection& self = connections_[connection];
  const Time start = std::max(simulator_.now(), self.free);
  self.free = start + injection_time(size, self.rate);
  notices_.push({self.free, Notice::injected, connection, size.count()});
  if (self.grain > Bytes::zero()) {
    const Time grain = start + self.latency + injection_time(std::min(self.grain, size), self.rate);
    notices_.push({grain, Notice::grain_arrived, connection});
  }
  notices_.push({self.free + self.latency, Notice::delivered, connection});
  timer_.set(notices_.top().when);
}

void IdealNetwork::on_event(std::uint64_t) {
  timer_.rang();
  while (!notices_.empty() && notices_.top().when == simulator_.now()) {
    const NoticeQueue::Entry entry = notices_.top();
    notices_.pop();
    give(entry);
  }
  if (!notices_.empty()) { timer_.set(notices_.top().when); }
}

void IdealNetwork::give(const NoticeQueue::Entry& entry) {
  switch (entry.notice) {
    case Notice::injected: {
      const FlowGraph::Connection& connection = graph_.connections[entry.connection];
      const std::uint32_t end = connection.first_use + connection.uses + connection.beside;
      for (std::uint32_t u = connection.first_use; u < end; ++u) {
        carried_[graph_.uses[u].link] += Bytes{entry.note} * graph_.uses[u].flows;
      }
      return listener_.injected(entry.connection);
    }
    case Notice::grain_arrived: return listener_.grain_arrived(entry.connection);
    case Notice::delivered: return listener_.delivered(entry.connection);
  }
}

Bytes IdealNetwork::carried(LinkIndex link) const { return carried_[link]; }

void IdealNetwork::snapshot(std::vector<std::int64_t>& state) const {
  const Time now = simulator_.now();
  for (const Connection& connection : connections_) { state.push_back((std::max(connection.free, now) - now).count()); }
  notices_.snapshot(now, state);
}

void IdealNetwork::fast_forward(Time by, std::int64_t times, const CarriedBytes& carried_before) {
  for (Connection& connection : connections_) { connection.free += by; }
  notices_.fast_forward(by);
  timer_.fast_forward(by);
  for (const LinkIndex link : carried_.ids()) { carried_[link] += (carried_[link] - carried_before[link]) * times; }
}

}  // namespace athanor
