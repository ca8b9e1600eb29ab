#include "models/aggregators/atp_pool.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/random.hpp"

namespace athanor {

AggregatorPlaces::AggregatorPlaces(std::uint32_t slots, std::uint32_t window, std::uint64_t seed)
    : order_(slots), used_(slots) {
  if (slots == 0) { return; }
  std::iota(order_.begin(), order_.end(), 0U);
  RandomStream(seed, "slots of a job").shuffle(order_);
  for (std::uint32_t k = 0; k < window; ++k) {
    const std::uint32_t slot = order_[k % slots];
    places_.push_back({0, slot, slot});
    used_[slot] = true;
  }
  cursor_ = window % slots;
}

void AggregatorPlaces::change(std::uint32_t sequence) {
  Place& place = places_[sequence % places_.size()];
  for (std::size_t looked = 0; looked < order_.size(); ++looked) {
    const std::uint32_t slot = order_[cursor_];
    cursor_ = (cursor_ + 1) % static_cast<std::uint32_t>(order_.size());
    if (used_[slot]) { continue; }
    used_[place.slot] = false;
    used_[slot] = true;
    place = {sequence + static_cast<std::uint32_t>(places_.size()), slot, place.slot};
    return;
  }
}

AtpPool::AtpPool(Simulator& simulator, AggregationTransport& carrier, const std::vector<AggregationJob>& jobs,
                 const AggregatorSettings& settings, const Cluster& cluster, std::uint64_t seed)
    : AggregationProtocol(simulator, carrier, jobs, settings, cluster),
      window_(settings.window > 0 ? settings.window : settings.slots) {
  if (window_ == 0) {
    throw SimulationError("slots", "a parameter server alone (0 slots) leaves the window open: set one");
  }
  for (std::uint32_t job = 0; job < jobs.size(); ++job) { add_job(job, seed); }
}

void AtpPool::add_job(std::uint32_t job, std::uint64_t seed) {
  const AggregationJob& given = jobs_[job];
  if (!given.server) { throw SimulationError("no-server", fmt::format("job {} has no parameter server", job)); }
  if (given.workers.size() > kMostWorkers) {
    throw SimulationError("too-many-workers", fmt::format("job {} has {} workers, of {} that ATP's packets can name",
                                                          job, given.workers.size(), kMostWorkers));
  }
  Job& state = states_.emplace_back();
  const auto workers = static_cast<std::uint32_t>(given.workers.size());
  state.all = workers == 64 ? ~Workers{0} : (Workers{1} << workers) - 1;
  state.first_worker = static_cast<std::uint32_t>(workers_.size());
  state.first_site = static_cast<std::uint32_t>(sites_.size());
  state.places.emplace(settings_.slots, window_, join_hash(seed, job));
  state.at_server.resize(packets(job));
  state.sums.resize(packets(job));
  state.marked_at_server.resize(packets(job));
  state.collided.resize(packets(job));
  std::vector<VertexId> endpoints = given.workers;
  endpoints.push_back(*given.server);
  const PlacedTree placed = tree_of(endpoints);
  const auto next_to = [&](std::uint32_t k) { return placed.switches[placed.tree->node_of(k)]; };
  site_at(job, next_to(workers));
  for (std::uint32_t w = 0; w < workers; ++w) {
    const std::uint32_t site = site_at(job, next_to(w));
    sites_[site].below |= Workers{1} << w;
    workers_.push_back({site, {}, {}, SendWindow(packets(job), window_)});
  }
  sites_[state.first_site].below = state.all;
  join_sites(job);
}

/// Of this job; the first one asked for is that of the server.
std::uint32_t AtpPool::site_at(std::uint32_t job, VertexId vertex) {
  Job& state = states_[job];
  for (std::uint32_t s = state.first_site; s < state.first_site + state.sites; ++s) {
    if (switches_[sites_[s].place].vertex == vertex) { return s; }
  }
  const auto known =
      std::find_if(switches_.begin(), switches_.end(), [&](const Switch& s) { return s.vertex == vertex; });
  Site& site = sites_.emplace_back();
  site.place = static_cast<std::uint32_t>(known - switches_.begin());
  site.job = job;
  if (known == switches_.end()) { switches_.push_back({vertex, std::vector<Slot>(settings_.slots)}); }
  ++state.sites;
  return static_cast<std::uint32_t>(sites_.size() - 1);
}

ConnectionId AtpPool::join(std::uint32_t job, VertexId from, End sender, VertexId to, End receiver,
                           const Target& target) {
  const ConnectionId number = connect(job, from, sender, to, receiver, 4 * window_);
  require(number == targets_.next(), "connection {} where {} are known", number.value, targets_.size());
  targets_.push_back(target);
  return number;
}

void AtpPool::join_sites(std::uint32_t job) {
  Job& state = states_[job];
  const VertexId server = *jobs_[job].server;
  const VertexId top = switches_[sites_[state.first_site].place].vertex;
  sites_[state.first_site].up = join(job, top, End::aggregator, server, End::server, {Stage::server, job, 0});
  state.to_switch = join(job, server, End::server, top, End::aggregator, {Stage::result, job, state.first_site});
  for (std::uint32_t s = state.first_site + 1; s < state.first_site + state.sites; ++s) {
    const VertexId vertex = switches_[sites_[s].place].vertex;
    sites_[s].up = join(job, vertex, End::aggregator, top, End::aggregator, {Stage::gradient, job, state.first_site});
    sites_[s].back = join(job, top, End::aggregator, vertex, End::aggregator, {Stage::result, job, s});
  }
  for (std::uint32_t w = 0; w < jobs_[job].workers.size(); ++w) {
    Worker& worker = workers_[state.first_worker + w];
    const VertexId leaf = switches_[sites_[worker.site].place].vertex;
    worker.up =
        join(job, jobs_[job].workers[w], End::worker, leaf, End::aggregator, {Stage::gradient, job, worker.site});
    worker.down = join(job, leaf, End::aggregator, jobs_[job].workers[w], End::worker,
                       {Stage::worker, job, state.first_worker + w});
  }
}

Time AtpPool::round_trip(std::uint32_t job) const {
  const Job& state = states_[job];
  const Time server = carrier_.alone(sites_[state.first_site].up) + carrier_.alone(state.to_switch);
  Time longest;
  for (std::uint32_t w = state.first_worker; w < state.first_worker + jobs_[job].workers.size(); ++w) {
    const Site& site = sites_[workers_[w].site];
    Time whole = server + carrier_.alone(workers_[w].up) + carrier_.alone(workers_[w].down);
    if (site.back != kNoConnection) { whole += carrier_.alone(site.up) + carrier_.alone(site.back); }
    longest = std::max(longest, whole);
  }
  return longest;
}

void AtpPool::begin(std::uint32_t job) {
  const std::uint32_t first = states_[job].first_worker;
  for (std::uint32_t w = first; w < first + jobs_[job].workers.size(); ++w) { send_more(w, job); }
}

void AtpPool::send_more(std::uint32_t worker, std::uint32_t job) {
  SendWindow& window = workers_[worker].window;
  while (window.has_next()) {
    const std::uint32_t sequence = window.take_next();
    window.tries(sequence) = 0;
    send(worker, job, sequence, false);
  }
}

void AtpPool::send(std::uint32_t worker, std::uint32_t job, std::uint32_t sequence, bool repeat) {
  Worker& self = workers_[worker];
  const std::uint32_t number = worker - states_[job].first_worker;
  if (repeat) {
    check_tries(job, number, sequence, self.window.tries(sequence));
    ++result(job).retransmissions;
  }
  const std::uint32_t tries = ++self.window.tries(sequence);
  carrier_.send(self.up,
                {.sequence = sequence, .repeat = repeat, .sum = own_part(number), .workers = Workers{1} << number});
  start_timer(job, number, sequence, tries);
}

bool AtpPool::waits(std::uint32_t job, std::uint32_t worker, std::uint32_t sequence, std::uint32_t tries) const {
  const SendWindow& window = workers_[states_[job].first_worker + worker].window;
  return window.waits_for(sequence) && window.tries(sequence) == tries;
}

void AtpPool::time_out(std::uint32_t job, std::uint32_t worker, std::uint32_t sequence) {
  send(states_[job].first_worker + worker, job, sequence, true);
}

void AtpPool::arrive(ConnectionId connection, const AggregationPacket& packet) {
  const Target& target = targets_[connection];
  switch (target.stage) {
    case Stage::gradient: return add_up(sites_[target.index], packet);
    case Stage::server: return serve(target.job, packet);
    case Stage::result: return hand_out(sites_[target.index], packet);
    case Stage::worker: return use(target.index, target.job, packet);
  }
}

AtpPool::Slot& AtpPool::slot_of(const Site& site, std::uint32_t sequence) {
  return switches_[site.place].slots[states_[site.job].places->slot(sequence)];
}

/// What comes alone from a switch that it found occupied stays alone: the switch by the server counts racks, not
/// workers of other ones. What is whole needs no slot.
void AtpPool::add_up(const Site& site, AggregationPacket packet) {
  if (settings_.slots == 0 || packet.collided) { return go_on(site, packet); }
  Slot& slot = slot_of(site, packet.sequence);
  const bool own = slot.workers != 0 && slot.job == site.job && slot.sequence == packet.sequence;
  if (packet.repeat) { return own ? flush(site, slot, packet) : go_on(site, packet); }
  if (own && (slot.workers & packet.workers) == 0) {
    slot.workers |= packet.workers;
    slot.sum += packet.sum;
    slot.marked = slot.marked || packet.marked;
    if (slot.workers == site.below) {
      packet.workers = slot.workers;
      packet.sum = slot.sum;
      packet.marked = slot.marked;
      go_on(site, packet);
    }
    return;
  }
  if (packet.workers == site.below || own) { return go_on(site, packet); }
  if (slot.workers == 0) {
    slot = {packet.workers, packet.sum, site.job, packet.sequence, packet.marked};
    return;
  }
  ++result(site.job).collisions;
  packet.collided = true;
  go_on(site, packet);
}

/// The slot gives up what it has, with the packet where that was missing.
void AtpPool::flush(const Site& site, Slot& slot, AggregationPacket packet) {
  const Workers in_slot = slot.workers;
  slot.workers = 0;
  if ((packet.workers & ~in_slot) != 0 && (packet.workers & in_slot) != 0) { go_on(site, packet); }
  const bool apart = (packet.workers & in_slot) == 0;
  packet.workers = apart ? packet.workers | in_slot : in_slot;
  packet.sum = apart ? packet.sum + slot.sum : slot.sum;
  packet.marked = packet.marked || slot.marked;
  go_on(site, packet);
}

/// The server adds what it has not got; what it has got in part cannot be taken apart and is dropped.
void AtpPool::serve(std::uint32_t job, const AggregationPacket& packet) {
  Job& state = states_[job];
  ++result(job).server_packets;
  Workers& there = state.at_server[packet.sequence];
  const bool had_all = there == state.all;
  if ((there & packet.workers) == 0) {
    if (there != 0) { ++result(job).server_additions; }
    there |= packet.workers;
    state.sums[packet.sequence] += packet.sum;
  }
  if (packet.marked) { state.marked_at_server[packet.sequence] = true; }
  if (packet.collided) { state.collided[packet.sequence] = true; }
  if (there != state.all || (had_all && !packet.repeat)) { return; }
  if (!had_all && state.collided[packet.sequence]) { state.places->change(packet.sequence); }
  AggregationPacket answer;
  answer.sequence = packet.sequence;
  answer.sum = state.sums[packet.sequence];
  answer.workers = had_all ? packet.workers : state.all;
  answer.marked = state.marked_at_server[packet.sequence];
  carrier_.send(state.to_switch, answer);
}

void AtpPool::hand_out(const Site& site, const AggregationPacket& packet) {
  if (settings_.slots > 0) {
    Slot& slot = slot_of(site, packet.sequence);
    if (slot.job == site.job && slot.sequence == packet.sequence) { slot.workers = 0; }
  }
  const Job& state = states_[site.job];
  const bool is_top = site.back == kNoConnection;
  for (std::uint32_t s = state.first_site + 1; is_top && s < state.first_site + state.sites; ++s) {
    if ((sites_[s].below & packet.workers) != 0) { carrier_.send(sites_[s].back, packet); }
  }
  const auto workers = static_cast<std::uint32_t>(jobs_[site.job].workers.size());
  for (std::uint32_t w = 0; w < workers; ++w) {
    const Worker& worker = workers_[state.first_worker + w];
    const bool is_here = &sites_[worker.site] == &site;
    if (is_here && (packet.workers >> w & 1U) != 0) { carrier_.send(worker.down, packet); }
  }
}

void AtpPool::use(std::uint32_t worker, std::uint32_t job, const AggregationPacket& packet) {
  SendWindow& window = workers_[worker].window;
  if (!window.waits_for(packet.sequence)) {
    ++result(job).repeated_results;
    return;
  }
  check_sum(job, packet);
  ++result(job).results;
  if (packet.marked) { ++result(job).marked_results; }
  if (settings_.mark_above != Bytes::max()) { window.adapt(packet.sequence, packet.marked); }
  if (window.take(packet.sequence, settings_.later_results)) { send(worker, job, window.first(), true); }
  if (window.done()) { return worker_ends(job); }
  send_more(worker, job);
}

}  // namespace athanor
