#include <algorithm>

#include "models/jobs/job_simulation.hpp"

namespace athanor {

bool JobSimulation::fail_parts() {
  bool changed = false;
  while (failures_.next() == state_.now()) {
    const FailureProcess::Failure failure = failures_.take();
    ++run_.failures[failure.source].failures;
    ++run_.events;
    for (const NodeId node : failure.nodes) {
      standby_.lost(node, failure.repaired, state_.inventory());
      push(failure.repaired, Due::repair, node.value);
      if (rules_.keep_stints) { run_.outages.push_back({node, state_.now(), failure.repaired, failure.source}); }
    }
    interrupt_on(failure);
    state_.surprise();
    changed = true;
  }
  return changed;
}

void JobSimulation::interrupt_on(const FailureProcess::Failure& failure) {
  std::vector<JobId> hit;
  for (const RunningJob& running : state_.running()) {
    const bool there = std::any_of(running.where.begin(), running.where.end(), [&](const NodeShare& share) {
      return std::find(failure.nodes.begin(), failure.nodes.end(), share.node) != failure.nodes.end();
    });
    if (there) { hit.push_back(running.job); }
  }
  std::sort(hit.begin(), hit.end());
  for (const JobId job : hit) { interrupt(job, failure.source); }
}

void JobSimulation::expect_failure(JobId job) {
  const auto [when, source] = failures_.job_failure(state_.now());
  if (when == WallTime::max()) { return; }
  account_start(job);
  works_[job].cause = source;
  works_[job].failure = push(when, Due::failure, job.value);
}

void JobSimulation::fail(JobId job) {
  const std::uint32_t cause = works_[job].cause;
  ++run_.failures[cause].failures;
  interrupt(job, cause);
}

void JobSimulation::interrupt(JobId job, std::uint32_t cause) {
  Work& work = works_[job];
  if (work.has_failed) { return; }
  close_account(job);
  state_.stall(job, true);
  others_changed_ = true;
  work.has_failed = true;
  work.cause = cause;
  work.failed = state_.now();
  work.failure = 0;
  JobOutcome& outcome = run_.outcomes[job];
  ++outcome.interruptions;
  ++run_.failures[cause].interruptions;
  const WallTime lost = work.progress.done().time - work.progress.kept().time;
  outcome.time.lost += lost;
  run_.failures[cause].lost_gpu_seconds += seconds(lost) * gpus_of(job);
  note_failure(job, cause, lost);
  work.progress.fall_back();
  work.due = push(state_.now() + rules_.failures.detection.draw(detection_), Due::release, job.value);
}

bool JobSimulation::release(JobId job) {
  Work& work = works_[job];
  const WallTime detecting = state_.now() - work.failed;
  run_.outcomes[job].time.detecting += detecting;
  run_.failures[work.cause].lost_gpu_seconds += seconds(detecting) * gpus_of(job);
  if (run_.outcomes[job].interruptions > jobs_.jobs[job].retries) {
    run_.outcomes[job].time.lost += work.progress.done().time;
    work.progress = {};
    end(job, JobState::failed);
    return true;
  }
  if (rules_.failures.restart == Restart::in_place && state_.replace_closed(job)) {
    note_stint(job);
    start_anew(job, work.interval);
    return false;
  }
  note(job, "gives its nodes back");
  leave(job);
  state_.stop(job);
  state_.take_stopped();
  run_.outcomes[job].state = JobState::waiting;
  scheduler_.enqueue(job, state_);
  return true;
}

void JobSimulation::account_start(JobId job) {
  Work& work = works_[job];
  if (work.cause == kNoCause || work.has_failed || work.failure != 0) { return; }
  run_.failures[work.cause].lost_gpu_seconds += seconds(work.ready - work.since) * gpus_of(job);
  work.cause = kNoCause;
}

}  // namespace athanor
