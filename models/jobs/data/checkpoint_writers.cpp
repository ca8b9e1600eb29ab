#include "models/jobs/data/checkpoint_writers.hpp"

#include <algorithm>
#include <cmath>

namespace athanor {

namespace {
constexpr double kMoreThanAnything = 1e30;
}

RateClaim CheckpointWriters::claim(StorageLoad& load, const std::vector<NodePart>& parts, double bytes) const {
  RateClaim claim{static_cast<double>(parts.size()), kMoreThanAnything, {}};
  for (const NodePart& part : parts) {
    load.take(claim, *rules_->checkpoint_storage, part.node, part.part, bytes * part.part);
  }
  return claim;
}

double CheckpointWriters::rate_alone(const std::vector<NodePart>& parts, double bytes) {
  StorageLoad load(*rules_, StorageLoad::Direction::write, routes_);
  return load.share({claim(load, parts, bytes)})[0];
}

std::optional<WallTime> CheckpointWriters::time_alone(const Allocation& where, const JobIo& io) {
  if (!shares() || io.checkpoint_bytes <= 0) { return {}; }
  const double span = io.checkpoint_bytes / rate_alone(parts_of(where), io.checkpoint_bytes);
  return WallTime{std::max<std::int64_t>(1, std::llround(span * 1e6))};
}

Speed CheckpointWriters::pace(const RunningJob& running, const JobIo& io, bool writing) {
  const auto at = writers_.find(running.job);
  if (!writing) {
    if (at == writers_.end()) { return {}; }
    written_ += at->second.bytes;
    writers_.erase(at);
    share();
    return {};
  }
  if (at != writers_.end()) { return at->second.speed; }
  Writer writer{io.checkpoint_bytes, parts_of(running.where), 0, {}};
  writer.alone = rate_alone(writer.parts, writer.bytes);
  const auto fresh = writers_.emplace(running.job, std::move(writer)).first;
  share();
  return fresh->second.speed;
}

void CheckpointWriters::leave(JobId job) {
  if (writers_.erase(job) > 0) { share(); }
}

void CheckpointWriters::share() {
  StorageLoad load(*rules_, StorageLoad::Direction::write, routes_);
  std::vector<RateClaim> claims;
  for (const auto& [job, writer] : writers_) {
    claims.push_back(claim(load, writer.parts, writer.bytes));
    claims.back().most = writer.alone;
  }
  const std::vector<double> rates = load.share(claims);
  double all = 0;
  std::size_t i = 0;
  for (auto& [job, writer] : writers_) {
    const Speed speed = Speed::of(rates[i] / writer.alone);
    changed_ = changed_ || speed != writer.speed;
    writer.speed = speed;
    all += rates[i++];
  }
  busiest_ = std::max(busiest_, all);
}

}  // namespace athanor
