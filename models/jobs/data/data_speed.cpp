#include "models/jobs/data/data_speed.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace athanor {

namespace {
constexpr double kMoreThanAnything = 1e30;
constexpr NodeId kAllNodes{UINT32_MAX};
}  // namespace

DataSpeed::DataSpeed(std::unique_ptr<SpeedModel> compute, const DataRules& rules, const JobList& jobs)
    : compute_(std::move(compute)),
      rules_(&rules),
      jobs_(&jobs),
      load_(rules, StorageLoad::Direction::read),
      writers_(rules),
      accounts_(jobs.size()),
      storages_(rules.storages.size()) {
  const auto on_links = [](const Storage& each) { return each.beside_ranks; };
  meets_others_ = compute_->meets_streams() && std::any_of(rules.storages.begin(), rules.storages.end(), on_links);
  const auto& saved_to = rules.checkpoint_storage;
  if (meets_others_ && saved_to && on_links(rules.storages[*saved_to])) { writers_.meet_others(); }
}

WallTime DataSpeed::boundary(JobId job, std::uint32_t epoch) const {
  const Wide all = jobs_->jobs[job].duration.count();
  return WallTime{static_cast<std::int64_t>(all * epoch / io(job).epochs)};
}

JobPace DataSpeed::pace(const RunningJob& running, WallTime done, const ClusterState& state) {
  if (std::exchange(settles_, false)) { settle(state); }
  JobPace pace = compute_->pace(running, done, state);
  if (meets_others_ && settled_ != state.changes()) {
    settled_ = state.changes();
    unsettled_ = true;
  }
  if (!io(running.job).data_set) {
    const double times = beside(running.job);
    if (times != 1) { pace.speed = Speed::of(static_cast<double>(pace.speed.parts) / 0x1p32 * times); }
    return pace;
  }
  Reader& reader = this->reader(running, done);
  note_progress(running.job, reader, done);
  const double base = static_cast<double>(pace.speed.parts) / 0x1p32;
  if (base != reader.base) {
    reader.base = base;
    enter(reader, reader.claim);
  }
  // Those who begin to read in one breath read together from the beginning.
  if (reader.began != readers_so_far_ && done == boundary(running.job, reader.epoch)) { begin_epoch(reader); }
  while (reader.epoch + 1 < io(running.job).epochs && done >= boundary(running.job, reader.epoch + 1)) {
    end_epoch(reader, 1);
    ++reader.epoch;
    begin_epoch(reader);
  }
  if (shares_anew_) { share(); }
  reader.asked_speed = reader.speed;
  reader.asked_base = reader.base * beside(running.job);
  return {Speed::of(reader.speed), std::min(pace.until, boundary(running.job, reader.epoch + 1))};
}

DataSpeed::Reader& DataSpeed::reader(const RunningJob& running, WallTime done) {
  const auto [at, fresh] = readers_.try_emplace(running.job);
  Reader& reader = at->second;
  if (!fresh) { return reader; }
  const JobIo& io = this->io(running.job);
  const Job& job = jobs_->jobs[running.job];
  reader.parts = parts_of(running.where);
  reader.data = &rules_->data_sets[*io.data_set];
  reader.demand = reader.data->bytes * io.epochs / seconds(job.duration);
  if (io.cpu_seconds > 0) {
    const double items = reader.data->items * io.epochs / seconds(job.duration);
    const double gpus = static_cast<double>(gpu_milli_of(jobs_->shape(job.shape))) / Inventory::kWhole;
    reader.prepared = gpus * io.cores_per_gpu / io.cpu_seconds / items;
  }
  reader.done = done;
  while (reader.epoch + 1 < io.epochs && done >= boundary(running.job, reader.epoch + 1)) { ++reader.epoch; }
  for_caches(reader, [&](CacheContents& cache, double bytes, double rate) { cache.attach(*io.data_set, bytes, rate); });
  ++readers_so_far_;
  begin_epoch(reader);
  return reader;
}

void DataSpeed::stopped(JobId job, WallTime done, WallTime now) {
  compute_->stopped(job, done, now);
  writers_.leave(job);
  const auto at = readers_.find(job);
  if (at == readers_.end()) { return; }
  Reader& reader = at->second;
  note_progress(job, reader, done);
  const WallTime from = boundary(job, reader.epoch);
  const WallTime to = boundary(job, reader.epoch + 1);
  if (done > from && to > from) { end_epoch(reader, std::min(1.0, seconds(done - from) / seconds(to - from))); }
  for_caches(reader,
             [&](CacheContents& cache, double /*bytes*/, double rate) { cache.detach(*io(job).data_set, rate); });
  load_.leave(reader.claim);
  readers_.erase(at);
  shares_anew_ = changed_ = true;
}

bool DataSpeed::take_changes() {
  const bool of_writers = writers_.take_changes();
  const bool of_compute = compute_->take_changes();
  const bool of_rates = writers_.take_new_rates();
  const bool anew = std::exchange(unsettled_, false) || of_rates;
  settles_ = settles_ || anew;
  return std::exchange(changed_, false) || of_writers || of_compute || anew;
}

std::optional<WallTime> DataSpeed::write_time(const RunningJob& running) {
  return writers_.time_alone(running.where, io(running.job));
}

std::optional<WallTime> DataSpeed::restore_time(const RunningJob& running) {
  return writers_.restore_time(running.where, io(running.job));
}

Speed DataSpeed::write_speed(const RunningJob& running, bool writing) {
  const JobIo& io = this->io(running.job);
  return io.checkpoint_bytes > 0 ? writers_.pace(running, io, writing) : Speed{};
}

std::vector<StorageAccount> DataSpeed::storages() const {
  std::vector<StorageAccount> all = storages_;
  if (writers_.shares()) {
    all[*rules_->checkpoint_storage].written = writers_.written();
    all[*rules_->checkpoint_storage].busiest_write = writers_.busiest();
  }
  return all;
}

void DataSpeed::note_progress(JobId job, Reader& reader, WallTime done) {
  const double work = seconds(done - reader.done);
  reader.done = done;
  if (work <= 0) { return; }
  DataAccount& account = accounts_[job];
  const double base = reader.asked_base;
  const double prepared = std::min(base, reader.prepared);
  const double took = work / reader.asked_speed;
  const double bytes = work * reader.demand;
  account.read += bytes;
  account.from_storage += bytes * reader.missed;
  account.working += took;
  account.waiting_fetch += std::max(0.0, took - work / prepared);
  account.waiting_cpu += work / prepared - work / base;
  if (reader.epoch == 0) { account.first_epoch += took; }
  storages_[reader.data->storage].read += bytes * reader.missed;
}

RateClaim DataSpeed::claim(Reader& reader) {
  RateClaim claim{1, kMoreThanAnything, {}};
  for (std::size_t i = 0; i < reader.parts.size(); ++i) {
    const NodePart& part = reader.parts[i];
    load_.take(claim, reader.data->storage, part.node, part.part * reader.missing[i], reader.data->file_bytes());
  }
  reader.alone = 1 / (reader.cached_seconds + 1 / load_.alone(claim));
  for (const auto& [cache, each] : reader.shared) { load_.take_cached(claim, cache, each); }
  // Every node has the same share of a storage, whatever of its bytes comes from there.
  if (reader.missed > 0) { claim.weight = static_cast<double>(reader.parts.size()) / reader.missed; }
  return claim;
}

void DataSpeed::enter(Reader& reader, RateClaim claim) {
  load_.leave(reader.claim);
  reader.claim = std::move(claim);
  reader.claim.most = std::min(reader.alone, reader.demand * std::min(reader.base, reader.prepared));
  load_.enter(reader.claim);
  shares_anew_ = true;
}

void DataSpeed::share() {
  shares_anew_ = false;
  std::vector<const RateClaim*> claims;
  for (const auto& [job, reader] : readers_) { claims.push_back(&reader.claim); }
  const std::vector<double> rates = load_.share(claims);
  std::size_t i = 0;
  for (auto& [job, reader] : readers_) { reader.rate = rates[i++]; }
  set_speeds();
  unsettled_ = meets_others_;
  if (!meets_others_) { note_busiest(); }
}

void DataSpeed::set_speeds() {
  for (auto& [job, reader] : readers_) {
    double speed = reader.rate * reader.kept / reader.demand;
    if (meets_others_) { speed = std::min(speed, reader.base * beside(job)); }
    changed_ = changed_ || speed != reader.speed;
    reader.speed = speed;
  }
}

double DataSpeed::beside(JobId job) const {
  const auto found = beside_.find(job);
  return found == beside_.end() ? 1 : found->second;
}

bool DataSpeed::wants_less(JobId job, const Reader& reader, double& rate) const {
  constexpr double kClose = 1e-3;
  const double wanted = std::min(reader.rate, reader.demand * std::min(reader.prepared, reader.base * beside(job)));
  const bool differs = std::abs(wanted - rate) > kClose * reader.rate;
  if (differs) { rate = wanted; }
  return differs;
}

void DataSpeed::settle(const ClusterState& state) {
  constexpr int kRounds = 8;  // each comes some times closer
  std::vector<double> rates;
  for (const auto& [job, reader] : readers_) { rates.push_back(reader.rate); }
  BesideStreams found;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<LinkStream> streams;
    std::size_t i = 0;
    for (const auto& [job, reader] : readers_) {
      streams.push_back({job, false, {}});
      const double rate = rates[i++];
      if (rules_->storages[reader.data->storage].beside_ranks) {
        streams.back().links = load_.links(reader.claim, rate);
      }
    }
    writers_.add_streams(streams);
    found = compute_->beside(streams, state);
    beside_ = std::move(found.jobs);
    if (round + 1 == kRounds) { break; }  // what was found is of these rates
    bool again = false;
    i = 0;
    for (const auto& [job, reader] : readers_) { again = wants_less(job, reader, rates[i++]) || again; }
    if (!again) { break; }
  }
  std::size_t i = 0;
  for (auto& [job, reader] : readers_) {
    const double kept = found.streams[i];
    reader.kept = kept < 1 && reader.rate > 0 ? kept * rates[i] / reader.rate : 1;
    ++i;
  }
  writers_.keep(std::span(found.streams).subspan(i));
  set_speeds();
  note_busiest();
}

void DataSpeed::note_busiest() {
  std::vector<double> read(rules_->storages.size());
  for (const auto& [job, reader] : readers_) {
    read[reader.data->storage] += reader.speed * reader.demand * reader.missed;
  }
  for (std::size_t s = 0; s < read.size(); ++s) {
    storages_[s].busiest_read = std::max(storages_[s].busiest_read, read[s]);
  }
}

// What caches have of an epoch.

template <class Visit>
void DataSpeed::for_caches(const Reader& reader, const Visit& visit) {
  const DataSet& data = *reader.data;
  for (const std::uint32_t c : data.caches) {
    if (rules_->caches[c].shared) {
      visit(contents(c, kAllNodes), data.bytes, reader.demand);
      continue;
    }
    for (const NodePart& part : reader.parts) {
      const double bytes = data.order == ReadOrder::shuffled ? data.bytes : data.bytes * part.part;
      visit(contents(c, part.node), bytes, reader.demand * part.part);
    }
  }
}

CacheContents& DataSpeed::contents(std::uint32_t cache, NodeId node) {
  const auto [at, fresh] = contents_.try_emplace({cache, node}, rules_->caches[cache]);
  if (!fresh || !rules_->caches[cache].loaded) { return at->second; }
  double room = rules_->caches[cache].capacity;
  for (std::uint32_t d = 0; d < rules_->data_sets.size(); ++d) {
    const DataSet& data = rules_->data_sets[d];
    if (std::find(data.caches.begin(), data.caches.end(), cache) == data.caches.end()) { continue; }
    at->second.hold(d, std::min(room, data.bytes));
    room = std::max(0.0, room - data.bytes);
  }
  return at->second;
}

CachedOutcome DataSpeed::meet(Reader& reader, std::uint32_t cache, const NodePart& part) {
  const DataSet& data = *reader.data;
  const bool shared = rules_->caches[cache].shared;
  const bool shuffled = data.order == ReadOrder::shuffled;
  const double bytes = shared || shuffled ? data.bytes : data.bytes * part.part;
  CacheContents& contents = this->contents(cache, shared ? kAllNodes : part.node);
  const auto data_set = static_cast<std::uint32_t>(&data - rules_->data_sets.data());
  const CachedReading reading =
      contents.reading(data_set, bytes, data.order == ReadOrder::sequential, shared || !shuffled ? 1 : part.part);
  const bool again = shared && std::any_of(reader.meetings.begin(), reader.meetings.end(),
                                           [&](const Meeting& meeting) { return meeting.cache == &contents; });
  if (!again) { reader.meetings.push_back({&contents, bytes, reading}); }
  return read_through(reading);
}

void DataSpeed::begin_epoch(Reader& reader) {
  reader.began = readers_so_far_;
  reader.meetings.clear();
  reader.missing.clear();
  reader.shared.clear();
  reader.missed = reader.cached_seconds = 0;
  for (const NodePart& part : reader.parts) {
    double reach = 1;
    double cached_seconds = 0;
    for (const std::uint32_t c : reader.data->caches) {
      const double miss = meet(reader, c, part).miss;
      cached_seconds += reach * (1 - miss) / rules_->caches[c].node_rate;
      if (rules_->caches[c].shared) { reader.shared.emplace_back(c, part.part * reach * (1 - miss)); }
      reach *= miss;
    }
    reader.missing.push_back(reach);
    reader.missed += part.part * reach;
    reader.cached_seconds = std::max(reader.cached_seconds, part.part * cached_seconds);
  }
  enter(reader, claim(reader));
}

void DataSpeed::end_epoch(Reader& reader, double share) {
  const auto data_set = static_cast<std::uint32_t>(reader.data - rules_->data_sets.data());
  for (Meeting& meeting : reader.meetings) {
    CachedReading reading = meeting.reading;
    reading.part *= share;
    meeting.cache->hold(data_set, read_through(reading).held * meeting.bytes);
  }
}

}  // namespace athanor
