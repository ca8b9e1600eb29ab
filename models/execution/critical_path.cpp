#include "models/execution/critical_path.hpp"

#include <algorithm>
#include <map>

#include "sim/check.hpp"

namespace athanor {

namespace {

/// What all queue pairs of a connection take together where nobody else uses their links; max: nothing limits them.
Bandwidth rate_alone(const FabricConnections& network, ConnectionId connection) {
  std::map<LinkIndex, std::int64_t> pairs_on;
  for (const FlowGraph::Connection& pair : network.pairs_of(connection)) {
    for (const FlowGraph::Use& use : network.path_of(pair)) { ++pairs_on[use.link]; }
  }
  Bandwidth sum;
  for (const FlowGraph::Connection& pair : network.pairs_of(connection)) {
    Bandwidth rate = pair.cap;
    for (const FlowGraph::Use& use : network.path_of(pair)) {
      rate = std::min(rate, network.graph.links[use.link].rate / pairs_on[use.link]);
    }
    if (rate == Bandwidth::max()) { return rate; }
    sum += rate;
  }
  return sum;
}

/// Of the slowest queue pair: what its links take, without software.
Time links_latency(const FabricConnections& network, const Fabric& fabric, ConnectionId connection) {
  Time longest;
  for (const FlowGraph::Connection& pair : network.pairs_of(connection)) {
    Time sum;
    for (const FlowGraph::Use& use : network.path_of(pair)) { sum += fabric.link(network.links[use.link]).latency; }
    longest = std::max(longest, sum);
  }
  return std::min(longest, network.latency(connection));
}

bool crosses_network(const FabricConnections& network, const Fabric& fabric, ConnectionId connection) {
  const std::span<const FlowGraph::Use> path = network.path_of(network.pairs_of(connection).front());
  return std::any_of(path.begin(), path.end(), [&](const FlowGraph::Use& use) {
    return fabric.link(network.links[use.link]).kind == LinkKind::network;
  });
}

}  // namespace

void CriticalPath::begins_on(const FabricConnections& network, const Fabric& fabric) {
  *this = {};
  network_ = &network;
  queues_.assign(network.count(), {});
  for (const ConnectionId connection : network.ids()) {
    rates_.push_back(rate_alone(network, connection));
    link_latency_.push_back(links_latency(network, fabric, connection));
    is_between_.push_back(crosses_network(network, fabric, connection));
  }
}

void CriticalPath::computes(std::uint64_t event, Time overhead, Time work) {
  PathShares& planned = plan_for(event);
  planned.overhead += overhead;
  planned.work += work;
}

void CriticalPath::sends(std::uint64_t event, ConnectionId connection, Time time) {
  TransferTime& taken = messages_of(plan_for(event), connection);
  taken.transfer += time;
  ++taken.transfers;
}

void CriticalPath::arrives_late(std::uint64_t event, ConnectionId connection) {
  PathShares& planned = pending_[event] = released_.at(connection);
  add_latency(planned, connection, network_->latency(connection));
  ++messages_of(planned, connection).transfers;
}

void CriticalPath::add_latency(PathShares& shares, ConnectionId connection, Time latency) const {
  const Time links = std::min(latency, link_latency_[connection]);
  messages_of(shares, connection).latency += links;
  shares.overhead += latency - links;
}

void CriticalPath::happens(std::uint64_t event, Time now) {
  const auto found = pending_.find(event);
  require(found != pending_.end(), "event {} of the executor has a cause", event);
  present_ = found->second;
  pending_.erase(found);
  require(present_.total() == now, "the shares of a critical path add up to {} ps at {} ps", present_.total().count(),
          now.count());
}

Time CriticalPath::alone(ConnectionId connection, Bytes bytes) const {
  return rates_[connection] == Bandwidth::max() ? Time::zero() : transfer_time(bytes, rates_[connection]);
}

PathShares CriticalPath::passed(const PathShares& begun, ConnectionId connection, Time now, Time latency,
                                Time transfer) const {
  PathShares shares = begun;
  const Time all = now - begun.total();
  const Time late = std::min(all, latency);
  const Time moving = std::min(all - late, transfer);
  add_latency(shares, connection, late);
  TransferTime& taken = messages_of(shares, connection);
  taken.transfer += moving;
  taken.sharing += all - late - moving;
  return shares;
}

void CriticalPath::moves(ConnectionId connection, Bytes wire_bytes) {
  queues_[connection].messages.push_back({present_, {}, wire_bytes, false, false});
}

void CriticalPath::leave(ConnectionId connection, Message& message, Time now) {
  Queue& queue = queues_[connection];
  if (queue.gone.total() > message.begun.total()) { message.begun = queue.gone; }
  message.gone = passed(message.begun, connection, now, Time::zero(), alone(connection, message.bytes));
  ++messages_of(message.gone, connection).transfers;
  message.left = true;
  queue.gone = message.gone;
}

void CriticalPath::left(ConnectionId connection, Time now) {
  std::vector<Message>& messages = queues_[connection].messages;
  const auto next = std::find_if(messages.begin(), messages.end(), [](const Message& each) { return !each.left; });
  require(next != messages.end(), "what leaves on connection {} was sent", connection.value);
  leave(connection, *next, now);
  present_ = next->gone;
}

void CriticalPath::grain_arrived(ConnectionId connection, Time now) {
  Queue& queue = queues_[connection];
  const auto next =
      std::find_if(queue.messages.begin(), queue.messages.end(), [](const auto& each) { return !each.told; });
  require(next != queue.messages.end(), "a grain on connection {} is of a message", connection.value);
  next->told = true;
  const bool behind = !next->left && queue.gone.total() > next->begun.total();
  const Bytes grain = network_->pairs_of(connection).front().grain * network_->queue_pairs;
  present_ = passed(behind ? queue.gone : next->begun, connection, now, network_->latency(connection),
                    alone(connection, grain));
  if (!next->left) { ++messages_of(present_, connection).transfers; }
}

void CriticalPath::arrived(ConnectionId connection, Time now) {
  std::vector<Message>& messages = queues_[connection].messages;
  require(!messages.empty(), "what arrives on connection {} was sent", connection.value);
  Message& message = messages.front();
  require(message.left, "what arrives on connection {} had left", connection.value);
  present_ = passed(message.gone, connection, now, network_->latency(connection), Time::zero());
  messages.erase(messages.begin());
}

}  // namespace athanor
