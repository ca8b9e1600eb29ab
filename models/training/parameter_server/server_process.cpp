#include "models/training/parameter_server/server_process.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

constexpr unsigned kKindAt = 32;  ///< in what events mean, above a number
constexpr std::uint64_t kComputed = 0;
constexpr std::uint64_t kWorked = 1;
constexpr std::uint64_t kArrived = 2;
constexpr std::uint64_t kFailed = 3;
constexpr std::uint64_t kTakenOver = 4;

std::uint64_t event(std::uint64_t kind, std::uint32_t number) { return kind << kKindAt | number; }

}  // namespace

ServerProcess::ServerProcess(Simulator& simulator, const ParameterServerSetup& setup, std::uint64_t seed)
    : simulator_(simulator),
      setup_(setup),
      self_(simulator.add(*this)),
      pairs_(setup.workers.size() * setup.shards.size()),
      shards_(setup.shards.size()),
      servers_(setup.shards.size() * setup.shards.front().size()) {
  for (std::uint32_t w = 0; w < setup.workers.size(); ++w) {
    workers_.push_back({.draws = RandomStream(seed, fmt::format("worker {}", w))});
  }
  for (const ParameterServerSetup::Straggler& straggler : setup.stragglers) {
    workers_[straggler.worker].factor = straggler.factor;
  }
  for (Shard& shard : shards_) {
    shard.at_clock = {workers()};
    shard.missing.resize(workers());
  }
  lay_channels();
}

Bytes ServerProcess::parameters_of(std::uint32_t shard) const {
  const Bytes rest = setup_.parameters % shards();
  return setup_.parameters / shards() + Bytes{shard < rest.count() ? 1 : 0};
}

Bytes ServerProcess::change_of(std::uint32_t server) const {
  const bool whole_step = synchronous() && !is_first(server);
  return whole_step ? parameters_of(shard_of(server)) : gradient_of(shard_of(server));
}

// ---- routes ------------------------------------------------------------------------------------------------------

void ServerProcess::add_channel(Message message, std::uint32_t server, std::uint32_t worker, Route route) {
  channels_.push_back({.message = message, .server = server, .worker = worker, .route = route});
  if (route.from == route.to) { return; }
  channels_.back().connection = channel_of_.next();
  channel_of_.push_back(static_cast<std::uint32_t>(channels_.size() - 1));
}

void ServerProcess::lay_channels() {
  for (std::uint32_t w = 0; w < workers(); ++w) {
    for (std::uint32_t s = 0; s < shards(); ++s) {
      const Route route{setup_.workers[w], setup_.shards[s].front()};
      add_channel(Message::gradient, first_server(s), w, route);
      add_channel(Message::parameters, first_server(s), w, {route.to, route.from});
    }
  }
  first_copy_ = static_cast<std::uint32_t>(channels_.size());
  const bool chain = setup_.replication == ParameterServerSetup::Replication::chain;
  for (std::uint32_t s = 0; s < shards(); ++s) {
    const std::vector<std::uint32_t>& places = setup_.shards[s];
    for (std::uint32_t c = 1; c < copies(); ++c) {
      add_channel(Message::copy, first_server(s) + c, 0, {places[chain ? c - 1 : 0], places[c]});
      add_channel(Message::acknowledgement, first_server(s) + c, 0, {places[c], places[0]});
    }
  }
  if (setup_.failure) { lay_backup_channels(); }
}

std::uint32_t ServerProcess::copy_channel(std::uint32_t server) const {
  const std::uint32_t copy = server % copies();
  if (is_mended(shard_of(server))) { return failover_.first_mended + 2 * (copy - 2); }
  return first_copy_ + 2 * (shard_of(server) * (copies() - 1) + copy - 1);
}

std::vector<ServerProcess::Route> ServerProcess::routes() const {
  std::vector<Route> routes;
  for (const std::uint32_t channel : channel_of_) { routes.push_back(channels_[channel].route); }
  return routes;
}

void ServerProcess::send(std::uint32_t channel, Bytes size) {
  const Channel& self = channels_[channel];
  if (self.route.from == self.route.to) {
    simulator_.at(simulator_.now(), self_, event(kArrived, channel));
  } else {
    network_->move(self.connection, size);
  }
}

void ServerProcess::delivered(ConnectionId connection) { arrived(channel_of_[connection]); }

void ServerProcess::on_event(std::uint64_t what) {
  const auto number = static_cast<std::uint32_t>(what);
  switch (what >> kKindAt) {
    case kComputed: return send_gradients(number);
    case kWorked: return finish_work(number);
    case kFailed: return fail();
    case kTakenOver: return take_over();
    default: return arrived(number);
  }
}

void ServerProcess::arrived(std::uint32_t channel) {
  if (is_lost(channel)) { return; }
  Channel& self = channels_[channel];
  switch (self.message) {
    case Message::gradient: return get_gradient(self.worker, shard_of(self.server));
    case Message::parameters:
      if (fails(shard_of(self.server))) { failover_.errands[self.worker] = Errand::computing; }
      return get_parameters(self.worker);
    case Message::copy:
    case Message::acknowledgement: {
      const std::uint32_t change = self.changes.front();
      self.changes.pop_front();
      if (self.message == Message::copy) { return enqueue(self.server, change); }
      return acknowledge(shard_of(self.server), change);
    }
  }
}

// ---- workers ---------------------------------------------------------------------------------------------------

void ServerProcess::start(Network& network) {
  network_ = &network;
  if (setup_.failure) {
    simulator_.at(setup_.failure->at, self_, event(kFailed, 0));
    simulator_.at(setup_.failure->at + setup_.failure->detection, self_, event(kTakenOver, 0));
  }
  for (std::uint32_t w = 0; w < workers(); ++w) {
    workers_[w].awaited = shards();
    for (std::uint32_t s = 0; s < shards(); ++s) { answer(s, w); }
  }
}

void ServerProcess::get_parameters(std::uint32_t worker) {
  Worker& self = workers_[worker];
  if (--self.awaited > 0) { return; }
  const Time now = simulator_.now();
  if (measuring_ && self.begun) {
    result_.iterations.push_back(now - self.begin);
    iterated_ += (now - self.begin).count();
    computed_ += (self.sent - self.begin).count();
  }
  if (done_) { return; }
  self.begun = true;
  self.begin = now;
  compute(worker);
}

void ServerProcess::compute(std::uint32_t worker) {
  Worker& self = workers_[worker];
  const Time time = scaled_up(draw(setup_.compute, self.draws), self.factor);
  simulator_.at(simulator_.now() + time, self_, event(kComputed, worker));
}

void ServerProcess::send_gradients(std::uint32_t worker) {
  Worker& self = workers_[worker];
  self.sent = simulator_.now();
  self.awaited = shards();
  for (std::uint32_t s = 0; s < shards(); ++s) {
    if (fails(s)) { failover_.errands[worker] = Errand::sent; }
    send(gradient_channel(worker, s), gradient_of(s));
  }
}

// ---- servers ---------------------------------------------------------------------------------------------------

/// Synchronous: its step needs no more gradients.
bool ServerProcess::is_late(std::uint32_t worker, std::uint32_t shard) {
  const Shard& self = shards_[shard];
  return synchronous() && (pair(worker, shard).version < self.version || self.accepted == wanted());
}

void ServerProcess::get_gradient(std::uint32_t worker, std::uint32_t shard) {
  Shard& self = shards_[shard];
  if (!is_late(worker, shard)) {
    ++self.accepted;
    return enqueue(head(shard), worker);
  }
  if (measuring_) { ++dropped_; }
  self.waiting.push_back(worker);
  answer_waiting(shard);
}

void ServerProcess::enqueue(std::uint32_t server, std::uint32_t change) {
  servers_[server].queue.push_back(change);
  work(server);
}

void ServerProcess::work(std::uint32_t server) {
  Server& self = servers_[server];
  if (self.busy || self.queue.empty()) { return; }
  self.busy = true;
  const bool free = setup_.apply_rate == Bandwidth::max();
  const Time time = free ? Time::zero() : transfer_time(change_of(server), setup_.apply_rate);
  self.worked += time;
  simulator_.at(simulator_.now() + time, self_, event(kWorked, server));
}

void ServerProcess::finish_work(std::uint32_t server) {
  Server& self = servers_[server];
  if (self.ignored) {
    self.ignored = false;
    self.busy = false;
    return work(server);
  }
  const std::uint32_t change = self.queue.front();
  self.queue.pop_front();
  self.busy = false;
  if (is_first(server)) {
    applied(change, shard_of(server));
  } else {
    copied(server, change);
  }
  work(server);
}

void ServerProcess::applied(std::uint32_t worker, std::uint32_t shard) {
  Shard& self = shards_[shard];
  if (!synchronous()) {
    if (fails(shard) && failover_.counted[worker]) { return replicate(shard, worker); }  // it was lost, and sent again
    count_gradient(self.version - pair(worker, shard).version);
    ++self.version;
    if (fails(shard)) { failover_.counted[worker] = true; }
    replicate(shard, worker);
    return make_progress(parts_ / shards());
  }
  count_gradient(0);
  self.waiting.push_back(worker);
  if (++self.applied == wanted()) { replicate(shard, 0); }
}

void ServerProcess::replicate(std::uint32_t shard, std::uint32_t change) {
  const bool chain = setup_.replication == ParameterServerSetup::Replication::chain;
  const std::uint32_t others = first_server(shard) + copies() - 1 - head(shard);
  const std::uint32_t sent = std::min(others, chain ? 1U : others);
  shards_[shard].missing[change] = std::max(1U, sent);
  if (sent == 0) { return acknowledge(shard, change); }
  for (std::uint32_t c = 1; c <= sent; ++c) {
    const std::uint32_t server = head(shard) + c;
    channels_[copy_channel(server)].changes.push_back(change);
    send(copy_channel(server), change_of(server));
  }
}

/// A copy passes on what it has applied, or acknowledges it.
void ServerProcess::copied(std::uint32_t server, std::uint32_t change) {
  const bool last = server % copies() + 1 == copies();
  if (fails(shard_of(server)) && server % copies() == 1) { failover_.at_second[change] = true; }
  if (setup_.replication == ParameterServerSetup::Replication::chain && !last) {
    channels_[copy_channel(server + 1)].changes.push_back(change);
    return send(copy_channel(server + 1), change_of(server + 1));
  }
  channels_[copy_channel(server) + 1].changes.push_back(change);
  send(copy_channel(server) + 1, Bytes::zero());
}

void ServerProcess::acknowledge(std::uint32_t shard, std::uint32_t change) {
  if (--shards_[shard].missing[change] > 0) { return; }
  if (fails(shard)) { note_recovery(); }
  if (fails(shard)) { failover_.at_second[change] = failover_.counted[change] = false; }
  if (synchronous()) {
    complete_step(shard);
  } else {
    complete_gradient(shard, change);
  }
}

void ServerProcess::complete_step(std::uint32_t shard) {
  Shard& self = shards_[shard];
  ++self.version;
  self.accepted = 0;
  self.applied = 0;
  std::uint64_t all = self.version;
  for (const Shard& other : shards_) { all = std::min(all, other.version); }
  const bool step_ends = all > given_out_;
  given_out_ = all;
  if (step_ends) { make_progress(all); }
  if (setup_.backup_workers == 0) { return answer_waiting(shard); }
  for (std::uint32_t s = 0; s < shards(); ++s) { answer_waiting(s); }
}

void ServerProcess::complete_gradient(std::uint32_t shard, std::uint32_t worker) {
  Shard& self = shards_[shard];
  const std::uint64_t before = pair(worker, shard).clock++ - self.slowest;
  if (before + 1 == self.at_clock.size()) { self.at_clock.push_back(0); }
  --self.at_clock[before];
  ++self.at_clock[before + 1];
  while (self.at_clock.front() == 0) {
    self.at_clock.pop_front();
    ++self.slowest;
  }
  self.waiting.push_back(worker);
  answer_waiting(shard);
}

// ---- answers ---------------------------------------------------------------------------------------------------

/// Of the parameters that a shard gives out: with backup workers not before all shards have ended the step, so that
/// no worker waits for a step at one shard that has ended without it at another.
std::uint64_t ServerProcess::given_version(std::uint32_t shard) const {
  return synchronous() && setup_.backup_workers > 0 ? given_out_ : shards_[shard].version;
}

bool ServerProcess::may_go_on(std::uint32_t shard, std::uint32_t worker) {
  using Update = ParameterServerSetup::Update;
  const Pair& self = pair(worker, shard);
  switch (setup_.update) {
    case Update::synchronous: return self.version < given_version(shard);
    case Update::asynchronous: return true;
    case Update::stale: return self.clock <= shards_[shard].slowest + setup_.bound;
  }
  return true;
}

void ServerProcess::answer(std::uint32_t shard, std::uint32_t worker) {
  pair(worker, shard).version = given_version(shard);
  if (fails(shard)) { failover_.errands[worker] = Errand::answered; }
  send(gradient_channel(worker, shard) + 1, parameters_of(shard));
}

void ServerProcess::answer_waiting(std::uint32_t shard) {
  std::vector<std::uint32_t>& waiting = shards_[shard].waiting;
  std::size_t kept = 0;
  for (const std::uint32_t worker : waiting) {
    if (may_go_on(shard, worker)) {
      answer(shard, worker);
    } else {
      waiting[kept++] = worker;
    }
  }
  waiting.resize(kept);
}

// ---- what is measured ------------------------------------------------------------------------------------------

void ServerProcess::count_gradient(std::uint64_t staleness) {
  ++parts_;
  if (!measuring_) { return; }
  ++result_.gradients;
  if (staleness >= result_.staleness.size()) { result_.staleness.resize(staleness + 1); }
  ++result_.staleness[staleness];
}

void ServerProcess::make_progress(std::uint64_t updates) {
  const std::uint64_t unit = synchronous() ? 1 : workers();
  if (updates == updates_) { return; }
  updates_ = updates;
  if (!measuring_ && !done_ && updates >= setup_.warm_up * unit) {
    measuring_ = true;
    begin_ = simulator_.now();
    return;
  }
  if (measuring_ && updates >= (std::uint64_t{setup_.warm_up} + setup_.steps) * unit) {
    measuring_ = false;
    done_ = true;
    result_.time = simulator_.now() - begin_;
    result_.updates = setup_.steps * unit;
  }
}

ParameterServerResult ServerProcess::take_result() {
  if (!done_) {
    throw SimulationError(
        "undelivered",
        fmt::format("messages between workers and servers were lost after {} updates of parameters", updates_));
  }
  result_.gradients /= shards();
  result_.dropped = dropped_ / shards();
  std::sort(result_.iterations.begin(), result_.iterations.end());
  if (iterated_ > 0) { result_.waiting = static_cast<double>(iterated_ - computed_) / static_cast<double>(iterated_); }
  result_.end = simulator_.now();
  for (const Server& server : servers_) {
    if (result_.end == Time::zero()) { break; }
    result_.server_busy = std::max(result_.server_busy, seconds(server.worked) / seconds(result_.end));
  }
  return std::move(result_);
}

}  // namespace athanor
