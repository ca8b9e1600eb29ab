#include <algorithm>

#include "models/training/parameter_server/server_process.hpp"

namespace athanor {

std::uint32_t ServerProcess::gradient_channel(std::uint32_t worker, std::uint32_t shard) const {
  return is_mended(shard) ? failover_.first_backup + 2 * worker : 2 * (worker * shards() + shard);
}

/// Of the shard that fails: what its second copy needs in place of the first one.
void ServerProcess::lay_backup_channels() {
  const std::uint32_t shard = setup_.failure->shard;
  const std::vector<std::uint32_t>& places = setup_.shards[shard];
  const bool chain = setup_.replication == ParameterServerSetup::Replication::chain;
  const std::uint32_t second = first_server(shard) + 1;
  failover_.errands.assign(workers(), Errand::computing);
  failover_.at_second.assign(workers(), false);
  failover_.counted.assign(workers(), false);
  failover_.first_backup = static_cast<std::uint32_t>(channels_.size());
  for (std::uint32_t w = 0; w < workers(); ++w) {
    add_channel(Message::gradient, second, w, {setup_.workers[w], places[1]});
    add_channel(Message::parameters, second, w, {places[1], setup_.workers[w]});
  }
  failover_.first_mended = static_cast<std::uint32_t>(channels_.size());
  for (std::uint32_t c = 2; c < copies(); ++c) {
    add_channel(Message::copy, first_server(shard) + c, 0, {places[chain ? c - 1 : 1], places[c]});
    add_channel(Message::acknowledgement, first_server(shard) + c, 0, {places[c], places[1]});
  }
}

/// What was sent to or by the copy that failed; from the taking over on whatever goes the old ways.
bool ServerProcess::is_lost(std::uint32_t channel) const {
  const Channel& self = channels_[channel];
  if (!failover_.failed || !fails(shard_of(self.server)) || channel >= failover_.first_backup) { return false; }
  const bool passed_on = self.message == Message::copy && self.server % copies() > 1 &&
                         setup_.replication == ParameterServerSetup::Replication::chain;
  return failover_.mended || !passed_on;
}

/// Its queue is lost with it.
void ServerProcess::fail() {
  if (done_) { return; }
  failover_.failed = true;
  Server& server = servers_[first_server(setup_.failure->shard)];
  server.queue.clear();
  server.ignored = server.busy;
}

/// Copies behind the first one forget what they have not applied, since it comes again.
void ServerProcess::forget_work(std::uint32_t shard) {
  for (std::uint32_t c = 1; c < copies(); ++c) {
    Server& server = servers_[first_server(shard) + c];
    server.queue.clear();
    server.ignored = server.busy;
  }
}

void ServerProcess::take_over() {
  if (!failover_.failed) { return; }
  failover_.mended = true;
  const std::uint32_t number = setup_.failure->shard;
  Shard& shard = shards_[number];
  forget_work(number);
  const bool done_at_second = synchronous() && failover_.at_second[0];
  if (done_at_second) {
    replicate(number, 0);
  } else if (synchronous()) {
    uncount(shard.applied);
    shard.accepted = 0;
    shard.applied = 0;
    shard.waiting.clear();
  }
  for (std::uint32_t w = 0; w < workers(); ++w) {
    if (failover_.errands[w] == Errand::answered) {
      answer(number, w);
    } else if (failover_.errands[w] == Errand::sent && !done_at_second) {
      resume(w);
    }
  }
}

/// Gradients of a step that was lost.
void ServerProcess::uncount(std::uint64_t parts) {
  parts_ -= parts;
  if (!measuring_) { return; }
  const std::uint64_t counted = std::min(parts, result_.gradients);
  result_.gradients -= counted;
  if (!result_.staleness.empty()) { result_.staleness.front() -= std::min(counted, result_.staleness.front()); }
}

/// A worker that waits for the shard: what it sent may be nowhere, at the second copy, or everywhere already.
void ServerProcess::resume(std::uint32_t worker) {
  const std::uint32_t number = setup_.failure->shard;
  const std::vector<std::uint32_t>& waiting = shards_[number].waiting;
  if (std::find(waiting.begin(), waiting.end(), worker) != waiting.end()) { return; }
  if (!synchronous() && failover_.at_second[worker]) { return replicate(number, worker); }
  ++result_.resent;
  send(gradient_channel(worker, number), gradient_of(number));
}

void ServerProcess::note_recovery() {
  if (!failover_.mended || result_.outage) { return; }
  result_.outage = simulator_.now() - setup_.failure->at;
}

}  // namespace athanor
