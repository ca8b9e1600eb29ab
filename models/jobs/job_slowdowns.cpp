// What becomes of jobs on nodes that are slow, and of these nodes when they are found.

#include <algorithm>

#include "models/jobs/job_simulation.hpp"
#include "models/jobs/later.hpp"

namespace athanor {

void JobSimulation::slow_down(const FailureProcess::Failure& slow) {
  const FailureSource& source = rules_.failures.sources[slow.source];
  WallTime over = WallTime::max();
  if (source.lasts) { over = later(state_.now(), failures_.draw(slow.source, *source.lasts)); }
  const std::uint64_t end = push(over, Due::recovery, slow.part);
  slow_.begin(slow, end, push(watch_.found(source, state_.now()), Due::found, slow.part));
  pace_on(slow.nodes);
}

void JobSimulation::recover(std::uint32_t part) {
  const std::vector<NodeId> nodes = slow_.nodes(part);
  slow_.end(part);
  failures_.renew(part, state_.now());
  pace_on(nodes);
}

bool JobSimulation::find(std::uint32_t part) {
  const std::uint32_t source = slow_.source(part);
  const bool by_itself = rules_.failures.sources[source].what <= FailureSource::What::node;
  bool changed = false;
  for (const NodeId node : slow_.nodes(part)) {
    if (!standby_.cordon(node, state_.inventory())) { continue; }
    const bool too_often = by_itself && watch_.fails_too_often(node, state_.now());
    run_.cordoned += too_often ? 1 : 0;
    draining_.push_back({node, too_often, source});
    changed = true;
  }
  if (rules_.failures.checks->found == HealthChecks::Found::move) {
    for (const JobId job : jobs_on(slow_.nodes(part))) { move(job, source); }
  }
  return changed;
}

void JobSimulation::move(JobId job, std::uint32_t cause) {
  Work& work = works_[job];
  if (lacks_tasks(job)) {
    begin_elsewhere(job);
    return;
  }
  if (work.has_failed) { return; }  // it leaves them when it begins again
  close_account(job);
  work.failure = 0;
  work.cause = cause;
  if (rules_.preempted == Preempted::goes_on) {
    work.progress.keep();
  } else {
    const WallTime lost = work.progress.unhindered();
    run_.outcomes[job].time.lost += lost;
    run_.failures[cause].lost_gpu_seconds += seconds(lost) * gpus_of(job);
    work.progress = {};
  }
  note(job, "leaves nodes that are slow");
  begin_elsewhere(job);
}

void JobSimulation::pace_on(const std::vector<NodeId>& nodes) {
  if (speeds_.depends_on_others()) {
    others_changed_ = true;
    return;
  }
  for (const JobId job : jobs_on(nodes)) {
    if (works_[job].has_failed) { continue; }
    works_[job].progress.advance(state_.now());
    pace(job);
  }
}

void JobSimulation::repair_drained() {
  std::erase_if(draining_, [&](const Draining& drained) {
    const NodeId node = drained.node;
    if (state_.inventory().tasks(node) > 0) { return false; }
    WallTime repaired = state_.now();
    for (const std::uint32_t source : slow_.sources(node)) {
      const WallTime repair = failures_.draw(source, rules_.failures.sources[source].repair);
      repaired = std::max(repaired, later(state_.now(), repair));
    }
    if (drained.too_often) { repaired = std::max(repaired, watch_.back(state_.now())); }
    for (const std::uint32_t part : slow_.end_on(node)) { failures_.renew(part, repaired); }
    if (drained.too_often) { failures_.replace(node, repaired); }
    standby_.drained(node, repaired);
    push(repaired, Due::repair, node.value);
    if (rules_.keep_stints) { run_.outages.push_back({node, state_.now(), repaired, drained.source}); }
    return true;
  });
}

}  // namespace athanor
