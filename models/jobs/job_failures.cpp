#include <algorithm>
#include <utility>

#include "models/jobs/job_simulation.hpp"
#include "models/jobs/peer_copies.hpp"

namespace athanor {

bool JobSimulation::fail_parts() {
  bool changed = false;
  while (failures_.next() == state_.now()) {
    const FailureProcess::Failure failure = failures_.take();
    ++run_.failures[failure.source].failures;
    ++run_.events;
    if (rules_.failures.sources[failure.source].slows()) {
      slow_down(failure);
      continue;
    }
    lose(failure);
    state_.surprise();
    changed = true;
  }
  return changed;
}

void JobSimulation::lose(const FailureProcess::Failure& failure) {
  const bool by_itself = rules_.failures.sources[failure.source].what <= FailureSource::What::node;
  for (const NodeId node : failure.nodes) {
    WallTime repaired = failure.repaired;
    if (by_itself && watch_.fails_too_often(node, state_.now())) {
      ++run_.cordoned;
      repaired = std::max(repaired, watch_.back(state_.now()));
      for (const std::uint32_t part : slow_.end_on(node)) { failures_.renew(part, repaired); }
      failures_.replace(node, repaired);
    }
    standby_.lost(node, repaired, state_.inventory());
    push(repaired, Due::repair, node.value);
    if (rules_.keep_stints) { run_.outages.push_back({node, state_.now(), repaired, failure.source}); }
  }
  for (const JobId job : jobs_on(failure.nodes)) { interrupt(job, failure.source, failure.nodes); }
}

std::vector<JobId> JobSimulation::jobs_on(const std::vector<NodeId>& nodes) const {
  std::vector<JobId> found;
  for (const RunningJob& running : state_.running()) {
    const bool there = std::any_of(running.where.begin(), running.where.end(), [&](const NodeShare& share) {
      return std::find(nodes.begin(), nodes.end(), share.node) != nodes.end();
    });
    if (there) { found.push_back(running.job); }
  }
  std::sort(found.begin(), found.end());
  return found;
}

void JobSimulation::expect_failure(JobId job) {
  const auto [when, source] = failures_.job_failure(state_.now());
  if (when == WallTime::max()) { return; }
  works_[job].cause = source;
  works_[job].failure = push(when, Due::failure, job.value);
}

void JobSimulation::fail(JobId job) {
  const std::uint32_t cause = works_[job].cause;
  ++run_.failures[cause].failures;
  interrupt(job, cause, {});
}

bool JobSimulation::is_in_memory(JobId job) const {
  return copies_survive(*rules_.checkpoints.memory, state_.running(job).where, lost_.at(job));
}

WallTime JobSimulation::fall_back(JobId job) {
  Work& work = works_[job];
  const WallTime before = work.progress.unhindered();
  if (work.from_memory) {
    work.progress.fall_back_to_memory();
  } else {
    work.progress.fall_back();
  }
  work.slowed = work.progress.done().slowed;
  const WallTime lost = before - work.progress.unhindered();
  run_.outcomes[job].time.lost += lost;
  run_.failures[work.cause].lost_gpu_seconds += seconds(lost) * gpus_of(job);
  return lost;
}

void JobSimulation::lose_more(JobId job, const std::vector<NodeId>& lost) {
  Work& work = works_[job];
  if (lacks_tasks(job)) {
    begin_elsewhere(job);
    return;
  }
  if (!work.from_memory) { return; }
  lost_[job].insert(lost_[job].end(), lost.begin(), lost.end());
  if (!is_in_memory(job)) { lose_memory(job); }
}

void JobSimulation::lose_memory(JobId job) {
  if (!std::exchange(works_[job].from_memory, false)) { return; }
  fall_back(job);
}

void JobSimulation::interrupt(JobId job, std::uint32_t cause, const std::vector<NodeId>& lost_nodes) {
  Work& work = works_[job];
  if (work.has_failed) { return lose_more(job, lost_nodes); }
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
  if (rules_.checkpoints.memory) {
    lost_[job] = lost_nodes;
    work.from_memory = is_in_memory(job);
  }
  note_failure(job, cause, fall_back(job));
  const WallTime seen = state_.now() + rules_.failures.detection.draw(detection_);
  const WallTime found = watch_.found(rules_.failures.sources[cause], state_.now());
  work.due = push(std::min({seen, found, ends_by(job)}), Due::release, job.value);
}

bool JobSimulation::release(JobId job) {
  Work& work = works_[job];
  account_standstill(job);
  if (state_.now() >= ends_by(job)) {
    end(job, JobState::timed_out);
    return true;
  }
  if (run_.outcomes[job].interruptions > jobs_.jobs[job].retries) {
    run_.outcomes[job].time.lost += work.progress.unhindered();
    work.progress = {};
    end(job, JobState::failed);
    return true;
  }
  return begin_elsewhere(job);
}

bool JobSimulation::begin_elsewhere(JobId job) {
  if (rules_.failures.restart == Restart::lost_tasks) { return begin_with_rest(job); }
  if (rules_.failures.restart == Restart::in_place && state_.replace_closed(job)) {
    note_stint(job);
    start_anew(job, works_[job].interval, true);
    return false;
  }
  if (!shrink(job)) { requeue(job); }
  return true;
}

void JobSimulation::requeue(JobId job) {
  note(job, "gives its nodes back");
  lose_memory(job);
  leave(job);
  state_.stop(job);
  state_.take_stopped();
  run_.outcomes[job].state = JobState::waiting;
  scheduler_.enqueue(job, state_);
}

}  // namespace athanor
