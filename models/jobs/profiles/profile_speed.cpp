#include "models/jobs/profiles/profile_speed.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/jobs/largest_node.hpp"

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
  if (speed <= 0) { return Speed::of(0); }
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
  const ApplicationProfile& profile = *full.profile;
  const GpuCounts counts = counts_of(running.where);
  const bool elastic = jobs_.jobs[running.job].is_elastic();
  double speed = 0;
  if (elastic) {
    const std::uint32_t gpus = std::accumulate(counts.begin(), counts.end(), 0U);
    const BatchChoices choices(profile, gpus, [&](double local) { return profile.steps.at(counts, local); });
    speed = choices.best(epoch).rate / full.rates[epoch];
  } else {
    speed = progress_rate(profile, epoch, counts, full.split) / full.rates[epoch];
  }
  if (profiles_.interference > 0 && is_disturbed(running, state)) { speed *= 1 - profiles_.interference; }
  if (profiles_.whole_seconds) { return {in_whole_seconds(full.ends[epoch] - done, speed), full.ends[epoch]}; }
  // A batch that is the same as of the full course is worth the same part of it in each epoch.
  return {Speed::of(speed), elastic ? full.ends[epoch] : WallTime::max()};
}

std::optional<double> ProfileSpeed::expected(JobId job, WallTime done, std::uint32_t nodes, std::uint32_t gpus) {
  if (jobs_.jobs[job].application == NameId{}) { return {}; }
  const JobCourse& full = course(job);
  const ApplicationProfile& profile = *full.profile;
  auto at = sizes_.find({&profile, nodes, gpus});
  if (at == sizes_.end()) {
    const BatchChoices choices(profile, gpus, [&](double local) { return profile.steps.of_size(nodes, gpus, local); });
    const std::vector<double> unknown(profile.convergence.epochs(), -1);
    at = sizes_.emplace(std::tuple{&profile, nodes, gpus}, OfSize{choices, unknown}).first;
  }
  const std::size_t epoch = full.epoch(done);
  double& rate = at->second.rates[epoch];
  if (rate < 0) { rate = at->second.choices.best(epoch).rate; }
  return rate / full.rates[epoch];
}

}  // namespace athanor
