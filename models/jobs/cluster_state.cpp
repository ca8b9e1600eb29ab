#include "models/jobs/cluster_state.hpp"

#include <algorithm>

#include "sim/check.hpp"

namespace athanor {

namespace {

/// A span from now on that may be endless.
WallTime after(WallTime now, WallTime span) { return span > WallTime::max() - now ? WallTime::max() : now + span; }

std::uint64_t whole_gpus_of(const Shape& shape) {
  std::uint64_t sum = 0;
  for (const TaskGroup& group : shape) { sum += std::uint64_t{group.tasks} * group.each.gpus; }
  return sum;
}

}  // namespace

ClusterState::ClusterState(const JobList& jobs, const NodeList& nodes, PlacementPolicy& placement)
    : jobs_(jobs), placement_(placement), inventory_(nodes, jobs), slots_(jobs.size(), kNone) {}

WallTime ClusterState::remaining(JobId job) const {
  const WallTime expected = jobs_.jobs[job].expected;
  if (!work_done_ || expected == WallTime::max()) { return expected; }
  return std::max(expected - work_done_(job), WallTime{});
}

bool ClusterState::start(JobId job) {
  if (whole_gpus_of(jobs_.shape(job)) > inventory_.free_gpus()) { return false; }
  auto where = placement_.place(jobs_.shape(job), inventory_);
  if (!where) { return false; }
  start(job, std::move(*where));
  return true;
}

void ClusterState::start(JobId job, Allocation where) {
  require(!is_running(job), "job {} runs already", job.value);
  slots_[job] = static_cast<std::uint32_t>(running_.size());
  running_.push_back({job, std::move(where), now_, after(now_, jobs_.jobs[job].expected)});
  expected_ends_.emplace(running_.back().expected, job);
  started_.push_back(job);
}

void ClusterState::stop(JobId job) {
  require(is_running(job), "job {} does not run", job.value);
  const std::uint32_t slot = slots_[job];
  if (running_[slot].expected != now_) { surprise(); }
  expected_ends_.erase({running_[slot].expected, job});
  inventory_.give_back(running_[slot].where, jobs_.shape(job));
  slots_[running_.back().job] = slot;
  slots_[job] = kNone;
  if (slot + 1 != running_.size()) { running_[slot] = std::move(running_.back()); }
  running_.pop_back();
  stopped_.push_back(job);
}

}  // namespace athanor
