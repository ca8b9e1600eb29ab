#include "models/jobs/profiles/profile_speed.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace athanor {

namespace {

bool spans_nodes(const Allocation& where) {
  return std::any_of(where.begin(), where.end(),
                     [&](const NodeShare& share) { return share.node != where.front().node; });
}

bool share_a_node(const Allocation& a, const Allocation& b) {
  return std::any_of(a.begin(), a.end(), [&](const NodeShare& one) {
    return std::any_of(b.begin(), b.end(), [&](const NodeShare& other) { return one.node == other.node; });
  });
}

/// Another job on several nodes is on one of the job's, which are several, too.
bool is_disturbed(const RunningJob& running, const ClusterState& state) {
  if (!spans_nodes(running.where)) { return false; }
  return std::any_of(state.running().begin(), state.running().end(), [&](const RunningJob& other) {
    return other.job != running.job && spans_nodes(other.where) && share_a_node(running.where, other.where);
  });
}

/// The speed with which so much work takes the nearest whole number of seconds; next to no time where that is none.
Speed in_whole_seconds(WallTime work, double speed) {
  constexpr double kSecond = 1e6;
  const double exact = static_cast<double>(work.count()) / kSecond / speed;
  const auto span = std::max<std::int64_t>(1, std::llround(std::nearbyint(exact) * kSecond));
  const Wide parts = ((Wide{work.count()} << Speed::kBits) + span - 1) / span;
  return {static_cast<std::uint64_t>(parts)};
}

}  // namespace

ProfileSpeed::ProfileSpeed(const ProfileSet& profiles, const JobList& jobs, const NodeList& nodes)
    : profiles_(profiles), jobs_(jobs), per_node_(most_gpus_of_a_node(nodes)) {}

const JobCourse& ProfileSpeed::course(JobId id) {
  const Job& job = jobs_.jobs[id];
  const auto [at, fresh] = courses_.try_emplace({job.application, job.batch, job.shape});
  if (fresh) {
    const auto gpus = static_cast<std::uint32_t>(gpu_milli_of(jobs_.shape(job.shape)) / Inventory::kWhole);
    at->second = course_of(*profiles_.find(jobs_.name(job.application)), job.batch, gpus, per_node_);
  }
  return at->second;
}

JobPace ProfileSpeed::pace(const RunningJob& running, WallTime done, const ClusterState& state) {
  if (jobs_.jobs[running.job].application == NameId{}) { return {}; }
  const JobCourse& full = course(running.job);
  const std::size_t epoch = full.epoch(done);
  double speed = progress_rate(*full.profile, epoch, counts_of(running.where), full.split) / full.rates[epoch];
  if (profiles_.interference > 0 && is_disturbed(running, state)) { speed *= 1 - profiles_.interference; }
  // The batch is the same as of the full course, and so is what an iteration is worth in each epoch.
  if (!profiles_.whole_seconds) { return {Speed::of(speed)}; }
  return {in_whole_seconds(full.ends[epoch] - done, speed), full.ends[epoch]};
}

}  // namespace athanor
