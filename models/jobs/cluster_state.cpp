#include "models/jobs/cluster_state.hpp"

#include "sim/check.hpp"

namespace athanor {

namespace {

/// A span from now on that may be endless.
WallTime after(WallTime now, WallTime span) { return span > WallTime::max() - now ? WallTime::max() : now + span; }

}  // namespace

ClusterState::ClusterState(const JobList& jobs, const NodeList& nodes, PlacementPolicy& placement)
    : jobs_(jobs), placement_(placement), inventory_(nodes, jobs), slots_(jobs.size(), kNone) {}

bool ClusterState::start(JobId job) {
  auto where = placement_.place(jobs_.shape(job), inventory_);
  if (!where) { return false; }
  start(job, std::move(*where));
  return true;
}

void ClusterState::start(JobId job, Allocation where) {
  require(!is_running(job), "job {} runs already", job.value);
  placement_.started(jobs_.shape(job), where);
  slots_[job] = static_cast<std::uint32_t>(running_.size());
  running_.push_back({job, std::move(where), now_, after(now_, jobs_.jobs[job].expected)});
  started_.push_back(job);
}

void ClusterState::stop(JobId job) {
  require(is_running(job), "job {} does not run", job.value);
  const std::uint32_t slot = slots_[job];
  if (running_[slot].expected != now_) { surprise(); }
  inventory_.give_back(running_[slot].where, jobs_.shape(job));
  placement_.stopped(jobs_.shape(job), running_[slot].where);
  slots_[running_.back().job] = slot;
  slots_[job] = kNone;
  if (slot + 1 != running_.size()) { running_[slot] = std::move(running_.back()); }
  running_.pop_back();
  stopped_.push_back(job);
}

}  // namespace athanor
