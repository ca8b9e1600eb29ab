// Elastic jobs that go on with fewer GPUs after failures, and get others when there are some.

#include "models/jobs/job_simulation.hpp"

namespace athanor {

void JobSimulation::resize(JobId job) {
  Work& work = works_[job];
  account_gpus(job);
  note_stint(job);
  work.began = state_.now();
  busy_milli_ -= work.milli;
  work.milli = gpu_milli_of(state_.running(job).where, jobs_.shape(job));
  busy_milli_ += work.milli;
}

bool JobSimulation::shrink(JobId job) {
  if (!rules_.failures.shrink || !jobs_.jobs[job].is_elastic()) { return false; }
  if (!state_.drop_closed(job, jobs_.jobs[job].least_gpus)) { return false; }
  resize(job);
  shrunk_[job] = works_[job].cause;
  note(job, "goes on with fewer GPUs");
  start_anew(job, works_[job].interval, true);
  return true;
}

void JobSimulation::grow_back() {
  for (auto next = shrunk_.begin(); next != shrunk_.end();) {
    const auto [job, cause] = *next;
    Work& work = works_[job];
    if (work.has_failed || !state_.grow(job)) {
      ++next;
      continue;
    }
    close_account(job);
    work.progress.keep();
    work.failure = 0;
    work.cause = cause;
    resize(job);
    note(job, "gets GPUs again");
    start_anew(job, work.interval, true);
    next = work.milli < gpu_milli_of(jobs_.shape(job)) ? std::next(next) : shrunk_.erase(next);
  }
}

}  // namespace athanor
