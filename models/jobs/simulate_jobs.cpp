#include "models/jobs/simulate_jobs.hpp"

#include <algorithm>

#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/event_queue.hpp"

namespace athanor {

namespace {

constexpr std::size_t kStuckNamed = 20;

/// How far a job has come.
struct Progress {
  WallTime done;     ///< of its work, at `updated`
  WallTime updated;  ///< in the future while it is being started again
  WallTime since;    ///< it has had its nodes
  bool on_nodes = false;
  Pace pace;
  std::uint64_t event = 0;  ///< the order of what is due next; events of other orders are void
};

class JobSimulation {
 public:
  JobSimulation(const JobList& jobs, const NodeList& nodes, PlacementPolicy& placement, Scheduler& scheduler,
                SpeedModel& speeds, const JobsRules& rules)
      : jobs_(jobs),
        scheduler_(scheduler),
        speeds_(speeds),
        rules_(rules),
        state_(jobs, nodes, placement),
        progress_(jobs.size()) {
    run_.outcomes = IdVector<JobId, JobOutcome>(jobs.size());
    state_.ask_for_work([this](JobId job) { return work_done(job); });
  }

  JobsRun run(const std::stop_token& stop) {
    for (WallTime next = next_instant(); next <= rules_.horizon && next != WallTime::max(); next = next_instant()) {
      if (stop.stop_requested()) { throw Interrupted(); }
      state_.advance(next);
      bool changed = end_jobs();
      changed = submit_jobs() || changed;
      pending_ = pending_ || changed || scheduler_.next_call(state_) <= next;
      if (pending_ && is_time_to_schedule()) { schedule(); }
      if (changed) { note_usage(); }
      if (others_changed_ && speeds_.depends_on_others()) { pace_anew(); }
      others_changed_ = false;
    }
    finish();
    return std::move(run_);
  }

 private:
  WallTime next_submission() const {
    return next_job_ < jobs_.jobs.next() ? jobs_.jobs[next_job_].submitted : WallTime::max();
  }

  WallTime next_instant() const {
    WallTime next = std::min(next_submission(), events_.empty() ? WallTime::max() : events_.top().when);
    const WallTime period = scheduler_.period();
    if (period > WallTime::zero()) {
      const WallTime wanted = pending_ ? state_.now() : scheduler_.next_call(state_);
      if (wanted != WallTime::max()) { next = std::min(next, multiple_from(wanted, period)); }
    } else {
      next = std::min(next, std::max(scheduler_.next_call(state_), state_.now()));
    }
    return next;
  }

  /// The first multiple of the period that is not before `wanted`, and after the present.
  WallTime multiple_from(WallTime wanted, WallTime period) const {
    const WallTime after_now = state_.now() - state_.now() % period + period;
    if (wanted <= after_now) { return after_now; }
    return wanted % period == WallTime::zero() ? wanted : wanted - wanted % period + period;
  }

  bool is_time_to_schedule() const {
    const WallTime period = scheduler_.period();
    return period == WallTime::zero() || state_.now() % period == WallTime::zero();
  }

  bool end_jobs() {
    bool changed = false;
    while (!events_.empty() && events_.top().when == state_.now()) {
      const EventAt<WallTime> event = events_.top();
      events_.pop();
      const JobId job{static_cast<std::uint32_t>(event.what)};
      if (progress_[job].event != event.order) { continue; }
      ++run_.events;
      update(job);
      changed = go_on(job) || changed;
    }
    return changed;
  }

  bool submit_jobs() {
    bool changed = false;
    for (; next_submission() == state_.now(); ++next_job_.value) {
      scheduler_.enqueue(next_job_, state_);
      ++run_.events;
      changed = true;
    }
    return changed;
  }

  void schedule() {
    pending_ = false;
    scheduler_.schedule(state_);
    const std::vector<JobId> stopped = state_.take_stopped();
    const std::vector<JobId> started = state_.take_started();
    for (const JobId job : stopped) { lose_nodes(job); }
    for (const JobId job : started) { begin(job); }
    if (stopped.empty() && started.empty()) { return; }
    note_usage();
  }

  /// A scheduler took a job's nodes away.
  void lose_nodes(JobId job) {
    if (!progress_[job].on_nodes) { return; }  // it was started in the same breath
    update(job);
    leave(job);
    run_.outcomes[job].state = JobState::waiting;
    if (rules_.preempted == Preempted::begins_anew) { progress_[job].done = {}; }
    if (!state_.is_running(job)) { scheduler_.enqueue(job, state_); }
  }

  void begin(JobId job) {
    if (!state_.is_running(job)) { return; }  // it has been stopped in the same breath
    JobOutcome& outcome = run_.outcomes[job];
    Progress& progress = progress_[job];
    const bool again = outcome.starts++ > 0;
    if (!again) { outcome.started = state_.now(); }
    outcome.state = JobState::running;
    if (rules_.keep_allocations) { outcome.where = state_.running(job).where; }
    progress.since = state_.now();
    progress.on_nodes = true;
    others_changed_ = true;
    progress.updated = again ? state_.now() + rules_.restart_overhead : state_.now();
    busy_milli_ += gpu_milli_of(jobs_.shape(job));
    pace(job);
  }

  WallTime work_done(JobId job) const {
    const Progress& progress = progress_[job];
    if (!progress.on_nodes || state_.now() <= progress.updated) { return progress.done; }
    return progress.done + progress.pace.speed.work_in(state_.now() - progress.updated);
  }

  /// Brings a job's progress up to the present.
  void update(JobId job) {
    Progress& progress = progress_[job];
    if (state_.now() <= progress.updated) { return; }
    progress.done = work_done(job);
    progress.updated = state_.now();
  }

  /// Asks how fast a running job goes on, and schedules what is due next.
  void pace(JobId job) {
    Progress& progress = progress_[job];
    const Job& description = jobs_.jobs[job];
    progress.pace = speeds_.pace(state_.running(job), progress.done, state_);
    const WallTime target = std::min(progress.pace.until, description.duration);
    const WallTime span = progress.pace.speed.time_for(target - progress.done);
    WallTime due = span > WallTime::max() - progress.updated ? WallTime::max() : progress.updated + span;
    due = std::min(due, ends_by(job));
    if (due == WallTime::max()) {
      progress.event = 0;
      return;
    }
    progress.event = ++orders_;
    events_.push({due, progress.event, job.value});
  }

  WallTime ends_by(JobId job) const {
    const WallTime limit = jobs_.jobs[job].limit;
    const WallTime since = state_.running(job).since;
    return limit > WallTime::max() - since ? WallTime::max() : since + limit;
  }

  /// What was due of a running job. True: it has ended.
  bool go_on(JobId job) {
    const bool completed = progress_[job].done >= jobs_.jobs[job].duration;
    if (!completed && state_.now() < ends_by(job)) {
      pace(job);
      return false;
    }
    JobOutcome& outcome = run_.outcomes[job];
    outcome.state = completed ? JobState::completed : JobState::timed_out;
    outcome.ended = state_.now();
    leave(job);
    state_.stop(job);
    state_.take_stopped();
    scheduler_.ended(job, state_);
    run_.ended = state_.now();
    return true;
  }

  void leave(JobId job) {
    Progress& progress = progress_[job];
    run_.outcomes[job].ran += state_.now() - progress.since;
    progress.on_nodes = false;
    progress.event = 0;
    others_changed_ = true;
    busy_milli_ -= gpu_milli_of(jobs_.shape(job));
  }

  void pace_anew() {
    for (const RunningJob& running : state_.running()) {
      update(running.job);
      pace(running.job);
    }
  }

  void note_usage() {
    run_.usage.set(state_.now(), {static_cast<double>(busy_milli_) / 1000, static_cast<double>(state_.running().size()),
                                  static_cast<double>(scheduler_.waiting())});
  }

  void finish() {
    const bool cut = rules_.horizon != WallTime::max() && next_instant() != WallTime::max();
    if (cut) { run_.ended = rules_.horizon; }
    if (!cut && next_job_.value > 0) {
      run_.ended = std::max(run_.ended, jobs_.jobs[JobId{next_job_.value - 1}].submitted);
    }
    run_.usage.end(run_.ended);
    for (const RunningJob& running : state_.running()) { run_.outcomes[running.job].ran += run_.ended - running.since; }
    if (cut) { return; }
    for (const JobId job : jobs_.jobs.ids()) {
      if (run_.outcomes[job].state != JobState::waiting) { continue; }
      if (run_.stuck.size() == kStuckNamed) { return; }
      run_.stuck.push_back({job, scheduler_.reason(job, state_)});
    }
  }

  const JobList& jobs_;
  Scheduler& scheduler_;
  SpeedModel& speeds_;
  const JobsRules& rules_;
  ClusterState state_;
  IdVector<JobId, Progress> progress_;
  EventQueueOf<WallTime> events_;
  std::uint64_t orders_ = 0;
  JobId next_job_;
  bool pending_ = false;         ///< something has changed since the scheduler was called
  bool others_changed_ = false;  ///< a job has begun or left since paces were asked for
  std::uint64_t busy_milli_ = 0;
  JobsRun run_;
};

}  // namespace

JobsRun simulate_jobs(const JobList& jobs, const NodeList& nodes, PlacementPolicy& placement, Scheduler& scheduler,
                      SpeedModel& speeds, const JobsRules& rules, const std::stop_token& stop) {
  return JobSimulation(jobs, nodes, placement, scheduler, speeds, rules).run(stop);
}

}  // namespace athanor
