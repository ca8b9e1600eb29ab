// Jobs that keep the tasks that are left to them, and wait for places of those that they have lost.

#include <algorithm>

#include "models/jobs/job_simulation.hpp"

namespace athanor {

bool JobSimulation::begin_with_rest(JobId job) {
  Work& work = works_[job];
  if (lacks_tasks(job)) { account_standstill(job); }
  const Allocation lost = state_.drop_closed(job);
  if (state_.running(job).where.empty()) {
    requeue(job);
    return true;
  }
  if (lost.empty()) {
    if (lacks_tasks(job)) { return false; }
    note_stint(job);
    start_anew(job, work.interval, true);
    return false;
  }
  resize(job);
  if (scheduler_.lost_tasks(job, lost, state_)) {
    note(job, "goes on with fewer GPUs");
    start_anew(job, work.interval, true);
    return true;
  }
  note(job, "keeps its other tasks");
  lacking_.insert(job);
  work.has_failed = true;
  work.failed = work.since = state_.now();
  work.due = push(std::max(state_.now(), ends_by(job)), Due::job, job.value);
  if (rules_.keep_stints) { run_.outcomes[job].where = state_.running(job).where; }
  state_.stall(job, true);
  others_changed_ = true;
  return true;
}

void JobSimulation::get_tasks(JobId job) {
  if (!lacks_tasks(job)) { return; }  // it has lost its nodes in the same breath
  account_standstill(job);
  resize(job);
  note(job, "has all its tasks again");
  start_anew(job, works_[job].interval, true);
}

}  // namespace athanor
