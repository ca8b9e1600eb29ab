#include "models/network/flow_network.hpp"

#include <algorithm>

#include "models/network/network.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {
/// What its own events mean; kFirstPipe + p is delivery pipe p.
enum : std::uint64_t { kCompletion, kGrain, kFirstPipe };

/// Remaining bytes are counted in what one unit of rate moves in a picosecond.
constexpr Wide kPartsPerByte = Wide{kFinePerByte} * 1'000'000'000'000;

Time time_for(Wide parts, FineRate rate) {
  const Wide time = (parts + rate - 1) / rate;
  if (time > INT64_MAX) { Picoseconds::overflow(); }
  return Time{static_cast<std::int64_t>(time)};
}
}  // namespace

FlowNetwork::FlowNetwork(Simulator& simulator, const FlowGraph& graph, MoveListener& listener, Ratio leeway)
    : simulator_(simulator),
      listener_(listener),
      skipped_(graph.links.size()),
      shares_(graph, leeway),
      queues_(graph.connections.size()),
      self_(simulator.add(*this)),
      completions_(graph.connections.size()),
      completion_timer_(simulator, self_, kCompletion),
      grain_timer_(simulator, self_, kGrain),
      deliveries_(simulator, self_, kFirstPipe, graph) {
  connections_.reserve(graph.connections.size());
  for (const FlowGraph::Connection& given : graph.connections) {
    Connection self;
    self.shares = given.uses > 0;
    self.cap = given.cap;
    self.grain = given.grain;
    self.latency = given.latency;
    connections_.push_back(self);
  }
  list_users_of_slack(graph);
}

void FlowNetwork::list_users_of_slack(const FlowGraph& graph) {
  const auto is_slack = [](const FlowGraph::Link& link) { return link.slack; };
  if (std::none_of(graph.links.begin(), graph.links.end(), is_slack)) { return; }
  users_of_slack_.resize(graph.links.size());
  for (const ConnectionId c : graph.connections.ids()) {
    const FlowGraph::Connection& connection = graph.connections[c];
    for (std::uint32_t u = 0; u < connection.uses + connection.beside; ++u) {
      const FlowGraph::Use& use = graph.uses[connection.first_use + u];
      if (graph.links[use.link].slack && use.flows > 0) { users_of_slack_[use.link].push_back({c, use.flows}); }
    }
  }
}

void FlowNetwork::move(ConnectionId connection, Bytes size) {
  require(size >= Bytes::zero(), "a message of {} bytes", size.count());
  queues_.push(connection, size);
  if (!connections_[connection].busy) { begin(connection); }
}

/// The message in front starts to be injected now.
void FlowNetwork::begin(ConnectionId connection) {
  Connection& self = connections_[connection];
  const Bytes size = queues_.front(connection);
  self.busy = true;
  ++self.started;
  self.since = simulator_.now();
  self.remaining = size.count() * kPartsPerByte;
  self.rate = 0;
  if (size == Bytes::zero() || !self.shares) { return begin_at_once(connection, size); }
  shares_.start(connection);
  self.starts = true;
  starting_.push_back(connection);
  simulator_.at_end_of_instant(self_);
}

/// Nothing but its cap limits the message, so its rate need not wait until the instant is settled.
void FlowNetwork::begin_at_once(ConnectionId connection, Bytes size) {
  Connection& self = connections_[connection];
  const Bandwidth rate = size == Bytes::zero() ? Bandwidth::max() : self.cap;
  const Time when = self.since + injection_time(size, rate);
  completions_.set(connection, when);
  completion_timer_.set(when);
  expect_grain(connection, injection_time(std::min(self.grain, size), rate));
}

void FlowNetwork::on_end_of_instant() {
  for (const ConnectionId c : shares_.update()) {
    if (!connections_[c].starts) { change_rate(c); }
  }
  for (const ConnectionId c : starting_) { begin_injection(c); }
  starting_.clear();
  if (!completions_.empty()) { completion_timer_.set(completions_.next()); }
}

void FlowNetwork::begin_injection(ConnectionId connection) {
  Connection& self = connections_[connection];
  self.starts = false;
  self.rate = shares_.rate(connection);
  const Bytes size = queues_.front(connection);
  completions_.set(connection, self.since + duration(self, size));
  if (self.grain == Bytes::zero()) { return; }
  const Bytes grain = std::min(self.grain, size);
  expect_grain(connection, time_for(grain.count() * kPartsPerByte, self.rate));
}

void FlowNetwork::change_rate(ConnectionId connection) {
  Connection& self = connections_[connection];
  self.remaining = remaining_now(self);
  self.since = simulator_.now();
  self.rate = shares_.rate(connection);
  completions_.set(connection, self.since + time_for(self.remaining, self.rate));
}

/// Messages of one connection mostly have one size and one rate: a 128-bit division is spared.
Time FlowNetwork::duration(Connection& self, Bytes size) const {
  if (self.timed_size != size || self.timed_rate != self.rate) {
    self.timed_size = size;
    self.timed_rate = self.rate;
    self.timed_duration = time_for(size.count() * kPartsPerByte, self.rate);
  }
  return self.timed_duration;
}

Wide FlowNetwork::remaining_now(const Connection& self) const {
  const Wide moved = Wide{self.rate} * (simulator_.now() - self.since).count();
  return std::max(self.remaining - moved, Wide{0});
}

void FlowNetwork::expect_grain(ConnectionId connection, Time after) {
  const Connection& self = connections_[connection];
  if (self.grain == Bytes::zero()) { return; }
  const Time when = self.since + self.latency + after;
  grains_.push({when, Notice::grain_arrived, connection, std::uint32_t{self.started - 1}});
  grain_timer_.set(when);
}

void FlowNetwork::on_event(std::uint64_t what) {
  if (what == kCompletion) { return finish_injections(); }
  if (what == kGrain) { return tell_grains(); }
  deliveries_.deliver_due(what - kFirstPipe, simulator_.now(), [this](ConnectionId c) { deliver(c); });
}

void FlowNetwork::finish_injections() {
  completion_timer_.rang();
  while (!completions_.empty() && completions_.next() == simulator_.now()) { complete(completions_.pop()); }
  simulator_.at_end_of_instant(self_);
}

void FlowNetwork::complete(ConnectionId connection) {
  Connection& self = connections_[connection];
  const Bytes size = queues_.front(connection);
  self.injected += size;
  self.busy = false;
  if (self.shares && size > Bytes::zero()) { shares_.stop(connection); }
  deliveries_.enter(connection, simulator_.now());
  queues_.pop(connection);
  if (!queues_.empty(connection)) { begin(connection); }
  listener_.injected(connection);
}

void FlowNetwork::tell_grains() {
  grain_timer_.rang();
  while (!grains_.empty() && grains_.top().when == simulator_.now()) {
    const NoticeQueue::Entry entry = grains_.top();
    grains_.pop();
    Connection& self = connections_[entry.connection];
    if (self.grains != static_cast<std::uint32_t>(entry.note)) { continue; }
    ++self.grains;
    listener_.grain_arrived(entry.connection);
  }
  if (!grains_.empty()) { grain_timer_.set(grains_.top().when); }
}

void FlowNetwork::deliver(ConnectionId connection) {
  Connection& self = connections_[connection];
  if (self.grain > Bytes::zero() && self.grains == self.delivered) {
    ++self.grains;
    listener_.grain_arrived(connection);
  }
  ++connections_[connection].delivered;
  listener_.delivered(connection);
}

Bytes FlowNetwork::carried(LinkIndex link) const {
  Bytes sum = skipped_[link];
  shares_.for_each_user(link, [&](ConnectionId c, std::uint32_t flows) { sum += carried_by(c) * flows; });
  if (users_of_slack_.empty()) { return sum; }
  for (const User& user : users_of_slack_[link]) { sum += carried_by(user.connection) * user.flows; }
  return sum;
}

Bytes FlowNetwork::carried_by(ConnectionId connection) const {
  const Connection& self = connections_[connection];
  if (!self.busy) { return self.injected; }
  const Wide under_way = queues_.front(connection).count() * kPartsPerByte - remaining_now(self);
  return self.injected + Bytes{static_cast<std::int64_t>(under_way / kPartsPerByte)};
}

void FlowNetwork::snapshot(std::vector<std::int64_t>& state) const {
  for (const ConnectionId c : connections_.ids()) {
    queues_.snapshot(c, state);
    const Connection& self = connections_[c];
    if (!self.busy) { continue; }
    state.push_back(self.starts ? 0 : (completions_.when(c) - simulator_.now()).count());
    const Wide remaining = remaining_now(self);
    state.push_back(static_cast<std::int64_t>(remaining >> 62));
    state.push_back(static_cast<std::int64_t>(remaining & ((Wide{1} << 62) - 1)));
    state.push_back(self.rate);
    state.push_back(self.grain > Bytes::zero() ? self.grains - self.delivered : 0);
  }
  shares_.snapshot(state);
  grains_.snapshot(simulator_.now(), state);
  deliveries_.snapshot(simulator_.now(), state);
}

void FlowNetwork::fast_forward(Time by, std::int64_t times, const CarriedBytes& carried_before) {
  for (Connection& self : connections_) { self.since += by; }
  for (const LinkIndex link : skipped_.ids()) { skipped_[link] += (carried(link) - carried_before[link]) * times; }
  completions_.fast_forward(by);
  completion_timer_.fast_forward(by);
  grains_.fast_forward(by);
  grain_timer_.fast_forward(by);
  deliveries_.fast_forward(by);
}

}  // namespace athanor
