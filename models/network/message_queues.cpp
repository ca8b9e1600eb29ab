#include "models/network/message_queues.hpp"

#include <algorithm>
#include <tuple>

namespace athanor {

std::uint32_t MessageQueues::take_free() {
  if (free_ == kNone) {
    pool_.emplace_back();
    return static_cast<std::uint32_t>(pool_.size() - 1);
  }
  const std::uint32_t taken = free_;
  free_ = pool_[taken].next;
  return taken;
}

void MessageQueues::push(ConnectionId connection, Bytes size) {
  const std::uint32_t message = take_free();
  pool_[message].size = size;
  Queue& self = queues_[connection];
  (self.length == 0 ? self.head : pool_[self.tail].next) = message;
  self.tail = message;
  ++self.length;
}

void MessageQueues::pop(ConnectionId connection) {
  Queue& self = queues_[connection];
  const std::uint32_t head = self.head;
  self.head = pool_[head].next;
  --self.length;
  pool_[head].next = free_;
  free_ = head;
}

void MessageQueues::snapshot(ConnectionId connection, std::vector<std::int64_t>& state) const {
  const Queue& self = queues_[connection];
  state.push_back(self.length);
  std::uint32_t message = self.head;
  for (std::uint32_t k = 0; k < self.length; ++k) {
    state.push_back(pool_[message].size.count());
    message = pool_[message].next;
  }
}

ConnectionId Completions::pop() {
  const ConnectionId connection = heap_.front().connection;
  place_[connection] = kOut;
  heap_pop(heap_, remember_place());
  return connection;
}

void Completions::set(ConnectionId connection, Time when) {
  const Entry entry{when, connection};
  const std::uint32_t place = place_[connection];
  if (place == kOut) {
    heap_push(heap_, entry, remember_place());
  } else if (when < heap_[place].when) {
    heap_rise(heap_, place, entry, remember_place());
  } else {
    heap_sink(heap_, place, entry, remember_place());
  }
}

void Completions::fast_forward(Time by) {
  for (Entry& entry : heap_) { entry.when += by; }
}

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

/// What arrives at one instant has no order: otherwise states would differ by it that have equal futures.
void DeliveryPipes::snapshot(Time now, std::vector<std::int64_t>& state) const {
  std::vector<std::pair<Time, ConnectionId>> entries;
  for (const Pipe& pipe : pipes_) {
    entries.clear();
    for (std::size_t k = 0; k < pipe.entries; ++k) { entries.emplace_back(pipe.at(k).when, pipe.at(k).connection); }
    std::sort(entries.begin(), entries.end());
    state.push_back(static_cast<std::int64_t>(entries.size()));
    for (const auto& [when, connection] : entries) {
      state.push_back((when - now).count());
      state.push_back(connection.value);
    }
  }
}

void NoticeQueue::fast_forward(Time by) {
  for (Entry& entry : heap_) { entry.when += by; }
}

void NoticeQueue::snapshot(Time now, std::vector<std::int64_t>& state) const {
  std::vector<Entry> entries = heap_;
  const auto key = [](const Entry& entry) {
    return std::tuple(entry.when, entry.notice, entry.connection, entry.note);
  };
  std::sort(entries.begin(), entries.end(), [&key](const Entry& a, const Entry& b) { return key(a) < key(b); });
  state.push_back(static_cast<std::int64_t>(entries.size()));
  for (const Entry& entry : entries) {
    state.push_back((entry.when - now).count());
    state.push_back(static_cast<std::int64_t>(entry.notice));
    state.push_back(entry.connection.value);
    if (entry.notice == Notice::injected) { state.push_back(entry.note); }
  }
}

}  // namespace athanor
