#include "models/jobs/simulate_jobs.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/jobs/job_simulation.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {
constexpr std::size_t kStuckNamed = 20;
}

JobSimulation::JobSimulation(const JobList& jobs, const NodeList& nodes, PlacementPolicy& placement,
                             Scheduler& scheduler, SpeedModel& speeds, const JobsRules& rules)
    : jobs_(jobs),
      scheduler_(scheduler),
      speeds_(speeds),
      rules_(rules),
      state_(jobs, nodes, placement),
      failures_(rules.failures, nodes, rules.seed),
      detection_(rules.seed, "detection of failures"),
      standby_(rules.failures.spares, state_.inventory()),
      slow_(rules.failures, nodes),
      watch_(rules.failures, nodes, rules.seed),
      dependencies_(jobs),
      works_(jobs.size()) {
  run_.outcomes = IdVector<JobId, JobOutcome>(jobs.size());
  state_.ask_for_work([this](JobId job) { return work_done(job); });
  state_.ask_for_speed([this](JobId job, std::uint32_t on, std::uint32_t gpus) {
    const double proportion =
        gpus * static_cast<double>(Inventory::kWhole) / static_cast<double>(gpu_milli_of(jobs_.shape(job)));
    return speeds_.expected(job, work_done(job), on, gpus).value_or(proportion);
  });
  for (const FailureSource& source : rules.failures.sources) { run_.failures.push_back({source.name}); }
  const auto& checks = rules.failures.checks;
  if (checks && checks->false_alarms) { run_.failures.push_back({std::string(kFalseAlarms)}); }
}

JobsRun JobSimulation::run(const std::stop_token& stop) {
  for (WallTime next = next_instant(); next <= rules_.horizon && next != WallTime::max() && !hopeless_;
       next = next_instant()) {
    if (stop.stop_requested()) { throw Interrupted(); }
    state_.advance(next);
    bool changed = take_events();
    changed = fail_parts() || changed;
    changed = take_alarms() || changed;
    changed = submit_jobs() || changed;
    if (changed && !shrunk_.empty()) { grow_back(); }
    pending_ = pending_ || changed || scheduler_.next_call(state_) <= next;
    if (pending_ && is_time_to_schedule()) { schedule(); }
    if (changed) { note_usage(); }
    if (others_changed_ && speeds_.depends_on_others()) { pace_anew(); }
    while (speeds_.take_changes()) { pace_anew(); }
    others_changed_ = false;
    repair_drained();
    note_waiting();
  }
  finish();
  return std::move(run_);
}

WallTime JobSimulation::next_submission() const {
  return next_job_ < jobs_.jobs.next() ? jobs_.jobs[next_job_].submitted : WallTime::max();
}

bool JobSimulation::has_work() const {
  return next_submission() != WallTime::max() || !state_.running().empty() || scheduler_.waiting() > 0;
}

WallTime JobSimulation::next_instant() const {
  if (!has_work()) { return WallTime::max(); }
  WallTime next = std::min(next_submission(), events_.empty() ? WallTime::max() : events_.top().when);
  next = std::min(next, next_schedule());
  // Parts fail for ever: where only they are left, nothing changes for jobs that wait, or lack tasks.
  const bool moves = next != WallTime::max() || state_.running().size() > lacking_.size();
  return moves ? std::min({next, failures_.next(), watch_.next_alarm()}) : next;
}

WallTime JobSimulation::next_schedule() const {
  const WallTime period = scheduler_.period();
  if (period == WallTime::zero()) { return std::max(scheduler_.next_call(state_), state_.now()); }
  const WallTime wanted = pending_ ? state_.now() : scheduler_.next_call(state_);
  return wanted == WallTime::max() ? wanted : multiple_from(wanted, period);
}

WallTime JobSimulation::multiple_from(WallTime wanted, WallTime period) const {
  const WallTime after_now = state_.now() - state_.now() % period + period;
  if (wanted <= after_now) { return after_now; }
  return wanted % period == WallTime::zero() ? wanted : wanted - wanted % period + period;
}

bool JobSimulation::is_time_to_schedule() const {
  const WallTime period = scheduler_.period();
  return period == WallTime::zero() || state_.now() % period == WallTime::zero();
}

std::uint64_t JobSimulation::push(WallTime when, Due due, std::uint32_t what) {
  if (when == WallTime::max()) { return 0; }
  events_.push({when, ++orders_, static_cast<std::uint64_t>(due) << 32U | what});
  return orders_;
}

bool JobSimulation::take_events() {
  bool changed = false;
  while (!events_.empty() && events_.top().when == state_.now()) {
    const EventAt<WallTime> event = events_.top();
    events_.pop();
    const auto what = static_cast<std::uint32_t>(event.what);
    switch (static_cast<Due>(event.what >> 32U)) {
      case Due::job:
        if (works_[JobId{what}].due == event.order) { changed = go_on(JobId{what}) || changed; }
        break;
      case Due::release:
        if (works_[JobId{what}].due == event.order) { changed = release(JobId{what}) || changed; }
        break;
      case Due::failure:
        if (works_[JobId{what}].failure == event.order) { fail(JobId{what}); }
        break;
      case Due::recovery:
        if (slow_.is_end(what, event.order)) { recover(what); }
        break;
      case Due::found:
        if (slow_.is_found(what, event.order)) { changed = find(what) || changed; }
        break;
      case Due::repair: changed = standby_.repaired(NodeId{what}, state_.now(), state_.inventory()) || changed; break;
    }
    ++run_.events;
  }
  if (changed) { state_.surprise(); }
  return changed;
}

bool JobSimulation::submit_jobs() {
  bool changed = false;
  for (; next_submission() == state_.now(); ++next_job_.value) {
    note_submission(next_job_);
    if (!dependencies_.hold(next_job_)) { scheduler_.enqueue(next_job_, state_); }
    ++run_.events;
    changed = true;
  }
  return changed;
}

void JobSimulation::schedule() {
  pending_ = false;
  scheduler_.schedule(state_);
  const std::vector<JobId> stopped = state_.take_stopped();
  const std::vector<JobId> started = state_.take_started();
  for (const JobId job : stopped) { lose_nodes(job); }
  for (const JobId job : started) { begin(job); }
  const std::vector<JobId> grown = state_.take_grown();
  for (const JobId job : grown) { get_tasks(job); }
  if (stopped.empty() && started.empty() && grown.empty()) { return; }
  note_usage();
}

void JobSimulation::note_usage() {
  run_.usage.set(state_.now(),
                 {static_cast<double>(busy_milli_) / Inventory::kWhole, static_cast<double>(state_.running().size()),
                  static_cast<double>(scheduler_.waiting())});
}

void JobSimulation::finish() {
  const bool goes_on = has_work() && (next_instant() != WallTime::max() || !state_.running().empty());
  const bool cut = goes_on && (hopeless_ || rules_.horizon != WallTime::max());
  if (cut) {
    run_.ended = hopeless_ ? state_.now() : rules_.horizon;
  } else {
    run_.ended = std::max(run_.ended, run_.usage.ended());  // jobs may be stuck since later
    if (next_job_.value > 0) { run_.ended = std::max(run_.ended, jobs_.jobs[JobId{next_job_.value - 1}].submitted); }
  }
  run_.usage.end(run_.ended);
  state_.advance(run_.ended);
  for (const RunningJob& running : state_.running()) {
    Work& work = works_[running.job];
    if (work.has_failed) {
      account_standstill(running.job);
    } else {
      close_account(running.job);
    }
    note_stint(running.job);
    account_gpus(running.job);
    account_useful(running.job);
  }
  name_those_without_progress(cut);
  for (const JobId job : jobs_.jobs.ids()) {
    JobOutcome& outcome = run_.outcomes[job];
    if (outcome.state != JobState::waiting && !lacks_tasks(job)) { continue; }
    account_useful(job);
    if (!cut && run_.stuck.size() < kStuckNamed) { run_.stuck.push_back({job, reason(job)}); }
  }
}

void JobSimulation::name_those_without_progress(bool cut) {
  if (hopeless_) {
    run_.stuck.push_back(
        {*hopeless_, fmt::format("has begun {} times, and has kept nothing more of its work since", kMostInVain)});
  }
  if (cut) { return; }
  for (const RunningJob& running : state_.running()) {
    if (lacks_tasks(running.job) || run_.stuck.size() >= kStuckNamed) { continue; }  // those wait for their tasks
    run_.stuck.push_back({running.job, "stands still on its nodes for ever"});
  }
}

std::string JobSimulation::reason(JobId job) const {
  const auto name = dependencies_.waits_for(job);
  if (!name) { return scheduler_.reason(job, state_); }
  return fmt::format("waits for '{}', which is not completed", jobs_.name(*name));
}

JobsRun simulate_jobs(const JobList& jobs, const NodeList& nodes, PlacementPolicy& placement, Scheduler& scheduler,
                      SpeedModel& speeds, const JobsRules& rules, const std::stop_token& stop) {
  return JobSimulation(jobs, nodes, placement, scheduler, speeds, rules).run(stop);
}

}  // namespace athanor
