#include "models/network/delivery_pipes.hpp"

#include <algorithm>

namespace athanor {

DeliveryPipes::DeliveryPipes(Simulator& simulator, ActorId actor, std::uint64_t first_event, const FlowGraph& graph) {
  std::vector<Time> latencies;
  for (const FlowGraph::Connection& connection : graph.connections) { latencies.push_back(connection.latency); }
  std::sort(latencies.begin(), latencies.end());
  latencies.erase(std::unique(latencies.begin(), latencies.end()), latencies.end());
  for (const Time latency : latencies) {
    pipes_.push_back({latency, Timer(simulator, actor, first_event + pipes_.size()), {}});
  }
  for (const FlowGraph::Connection& connection : graph.connections) {
    const auto found = std::lower_bound(latencies.begin(), latencies.end(), connection.latency);
    pipe_of_.push_back(static_cast<std::uint32_t>(found - latencies.begin()));
  }
}

void DeliveryPipes::Pipe::grow() {
  std::vector<Entry> wider(std::max<std::size_t>(2 * places.size(), 4));
  for (std::size_t k = 0; k < entries; ++k) { wider[k] = at(k); }
  places.swap(wider);
  first = 0;
}

void DeliveryPipes::enter(ConnectionId connection, Time now) {
  Pipe& pipe = pipes_[pipe_of_[connection]];
  if (pipe.entries == pipe.places.size()) { pipe.grow(); }
  const Time when = now + pipe.latency;
  pipe.places[(pipe.first + pipe.entries++) & (pipe.places.size() - 1)] = {when, connection};
  if (pipe.entries == 1) { pipe.alarm.set(when); }
}

void DeliveryPipes::fast_forward(Time by) {
  for (Pipe& pipe : pipes_) {
    pipe.alarm.fast_forward(by);
    for (std::size_t k = 0; k < pipe.entries; ++k) {
      pipe.places[(pipe.first + k) & (pipe.places.size() - 1)].when += by;
    }
  }
}

void DeliveryPipes::snapshot(Time now, std::vector<std::int64_t>& state) const {
  for (const Pipe& pipe : pipes_) {
    state.push_back(static_cast<std::int64_t>(pipe.entries));
    for (std::size_t k = 0; k < pipe.entries; ++k) {
      state.push_back((pipe.at(k).when - now).count());
      state.push_back(pipe.at(k).connection.value);
    }
  }
}

}  // namespace athanor
