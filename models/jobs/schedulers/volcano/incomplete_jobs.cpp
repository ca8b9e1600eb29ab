// Jobs that have lost tasks, keep the others, and need some of the lost ones before they work again.

#include <algorithm>

#include "models/jobs/schedulers/volcano/scheduler.hpp"
#include "models/jobs/task_count.hpp"

namespace athanor {

bool VolcanoScheduler::lost_tasks(JobId job, const Allocation& lost, const ClusterState& state) {
  VolcanoJob& known = jobs_[job];
  const Amounts less = amounts_of(lost, state.jobs().shape(job));
  queues_.release(known.queue, less);
  known.allocated -= less;
  want(job, known.wanted + less);
  if (tasks_of(state.running(job).where) >= known.needed) { return true; }
  elastic_.erase(job);
  incomplete_.insert(job);
  return false;
}

VolcanoScheduler::Missing VolcanoScheduler::missing_of(JobId job, const ClusterState& state) const {
  const Shape& needed = jobs_.needed_shape(job);
  const Allocation& where = state.running(job).where;
  Missing missing;
  for (std::uint32_t group = 0; group < needed.size(); ++group) {
    std::uint32_t tasks = needed[group].tasks;
    for (const NodeShare& share : where) { tasks -= share.group == group ? share.tasks : 0; }
    if (tasks == 0) { continue; }
    missing.shape.push_back({tasks, needed[group].each});
    missing.groups.push_back(group);
  }
  return missing;
}

Amounts VolcanoScheduler::request_of(JobId job, const ClusterState& state) const {
  return incomplete_.contains(job) ? amounts_of(missing_of(job, state).shape) : jobs_.request(job);
}

std::vector<JobId> VolcanoScheduler::incomplete_in(std::size_t queue) const {
  std::vector<JobId> found;
  for (const JobId job : incomplete_) {
    if (jobs_[job].queue == queue) { found.push_back(job); }
  }
  std::sort(found.begin(), found.end(), [&](JobId a, JobId b) { return is_before(a, b); });
  return found;
}

/// `gang` puts jobs that are not ready before those that are, and tells two of the former not apart: whoever has
/// nothing yet has the smaller share, and comes first where `drf` is asked.
bool VolcanoScheduler::is_before(JobId a, JobId b) const {
  const Job& first = list_.jobs[a];
  const Job& second = list_.jobs[b];
  for (const VolcanoTier& tier : settings_.tiers) {
    for (const VolcanoPluginUse& use : tier) {
      if (use.plugin == VolcanoPlugin::priority && first.priority != second.priority) {
        return first.priority > second.priority;
      }
      if (use.plugin == VolcanoPlugin::sla && first.submitted != second.submitted) {
        return first.submitted < second.submitted;
      }
      if (use.plugin == VolcanoPlugin::tdm && first.preemptible != second.preemptible) { return second.preemptible; }
      if (use.plugin != VolcanoPlugin::drf) { continue; }
      const double less = dominant_share(jobs_[a].allocated, total_);
      const double more = dominant_share(jobs_[b].allocated, total_);
      if (less != more) { return less < more; }
    }
  }
  return jobs_.turn(a) < jobs_.turn(b);
}

std::optional<JobId> VolcanoScheduler::take_incomplete(Walk& walk) const {
  if (walk.incomplete.empty()) { return {}; }
  const JobId job = walk.incomplete.back();
  if (walk.next && !is_before(job, walk.next->job)) { return {}; }
  walk.incomplete.pop_back();
  return job;
}

void VolcanoScheduler::complete(JobId job, ClusterState& state) {
  VolcanoJob& known = jobs_[job];
  const auto [shape, groups] = missing_of(job, state);
  const Amounts more = amounts_of(shape);
  if (!queues_.is_allocatable(known.queue, more)) { return; }
  TasksPlaced placed = session_->place(shape, list_.jobs[job].preemptible, true);
  if (placed.tasks == 0) { return; }
  for (Allocation* where : {&placed.on_free, &placed.in_future}) {
    for (NodeShare& share : *where) { share.group = groups[share.group]; }
  }
  queues_.allocate(known.queue, more);
  known.is_settled = true;
  settled_.push_back(job);
  if (placed.pipelined > 0) {
    pipelined_.emplace_back(known.queue, more);
    kept_.emplace_back(job, std::move(placed));
    return;
  }
  known.allocated += more;
  Amounts wanted = jobs_.most(job);
  wanted -= known.allocated;
  want(job, wanted);
  incomplete_.erase(job);
  if (list_.jobs[job].is_elastic()) {
    elastic_.insert(job);
    may_grow_ = true;
  }
  state.add(job, std::move(placed.on_free));
}

}  // namespace athanor
