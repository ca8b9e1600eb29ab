#include "models/jobs/data/checkpoint_writers.hpp"

#include <algorithm>
#include <cmath>

namespace athanor {

namespace {
constexpr double kMoreThanAnything = 1e30;

WallTime span_of(double bytes, double rate) {
  return WallTime{std::max<std::int64_t>(1, std::llround(bytes / rate * 1e6))};
}
}  // namespace

RateClaim CheckpointWriters::claim(StorageLoad& load, const Allocation& where, double bytes) const {
  const std::vector<NodePart> parts = parts_of(where);
  RateClaim claim{static_cast<double>(parts.size()), kMoreThanAnything, {}};
  for (const NodePart& part : parts) {
    load.take(claim, *rules_->checkpoint_storage, part.node, part.part, bytes * part.part);
  }
  claim.most = load.alone(claim);
  return claim;
}

std::optional<WallTime> CheckpointWriters::time_alone(const Allocation& where, const JobIo& io) {
  if (!shares() || io.checkpoint_bytes <= 0) { return {}; }
  return span_of(io.checkpoint_bytes, claim(load_, where, io.checkpoint_bytes).most);
}

std::optional<WallTime> CheckpointWriters::restore_time(const Allocation& where, const JobIo& io) {
  if (!shares() || io.checkpoint_bytes <= 0) { return {}; }
  const double rate = claim(restoring_, where, io.checkpoint_bytes).most;
  if (rate >= kMoreThanAnything) { return {}; }
  return span_of(io.checkpoint_bytes, rate);
}

Speed CheckpointWriters::pace(const RunningJob& running, const JobIo& io, bool writing) {
  const auto at = writers_.find(running.job);
  if (!writing) {
    if (at == writers_.end()) { return {}; }
    written_ += at->second.bytes;
    leave(running.job);
    return {};
  }
  if (at != writers_.end()) { return at->second.speed; }
  Writer writer{io.checkpoint_bytes, claim(load_, running.where, io.checkpoint_bytes), 0, 1, {}};
  load_.enter(writer.claim);
  const auto fresh = writers_.emplace(running.job, std::move(writer)).first;
  share();
  return fresh->second.speed;
}

void CheckpointWriters::leave(JobId job) {
  const auto at = writers_.find(job);
  if (at == writers_.end()) { return; }
  load_.leave(at->second.claim);
  writers_.erase(at);
  share();
}

void CheckpointWriters::share() {
  std::vector<const RateClaim*> claims;
  for (const auto& [job, writer] : writers_) { claims.push_back(&writer.claim); }
  const std::vector<double> rates = load_.share(claims);
  std::size_t i = 0;
  for (auto& [job, writer] : writers_) {
    writer.rate = rates[i++];
    const Speed speed = Speed::of(writer.rate * writer.kept / writer.claim.most);
    changed_ = changed_ || speed != writer.speed;
    writer.speed = speed;
  }
  new_rates_ = meets_others_;
  if (!meets_others_) { note_busiest(); }
}

void CheckpointWriters::note_busiest() {
  double all = 0;
  for (const auto& [job, writer] : writers_) { all += writer.rate * writer.kept; }
  busiest_ = std::max(busiest_, all);
}

void CheckpointWriters::add_streams(std::vector<LinkStream>& streams) const {
  if (!meets_others_) { return; }
  for (const auto& [job, writer] : writers_) { streams.push_back({job, true, load_.links(writer.claim, writer.rate)}); }
}

void CheckpointWriters::keep(std::span<const double> shares) {
  if (!meets_others_) { return; }
  std::size_t i = 0;
  for (auto& [job, writer] : writers_) {
    writer.kept = shares[i++];
    writer.speed = Speed::of(writer.rate * writer.kept / writer.claim.most);
  }
  note_busiest();
}

}  // namespace athanor
