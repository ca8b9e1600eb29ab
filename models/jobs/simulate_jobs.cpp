#include "models/jobs/simulate_jobs.hpp"

#include <algorithm>

#include "models/jobs/failures/failure_process.hpp"
#include "models/jobs/failures/standby_nodes.hpp"
#include "models/jobs/job_progress.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/event_queue.hpp"

namespace athanor {

namespace {

constexpr std::size_t kStuckNamed = 20;
constexpr std::uint32_t kNoCause = UINT32_MAX;

/// What events of the queue are.
enum class Due : std::uint8_t {
  job,      ///< a job has come as far as its pace was known for, or its limit
  release,  ///< a job that has failed gives its nodes back
  failure,  ///< a job fails by itself
  repair,   ///< a node can be used again
};

/// A job that has been started.
struct JobRun {
  JobProgress progress;
  Pace pace;
  WallTime since;   ///< it has had its nodes
  WallTime ready;   ///< it works from then on
  WallTime failed;  ///< when it did, where has_failed
  bool on_nodes = false;
  bool has_failed = false;
  std::uint32_t cause = kNoCause;  ///< of its last interruption
  std::uint64_t due = 0;           ///< the order of what is due next; events of other orders are void
  std::uint64_t failure = 0;       ///< the order of its failure by itself
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
        failures_(rules.failures, nodes, rules.seed),
        detection_(rules.seed, "detection of failures"),
        standby_(rules.failures.spares, state_.inventory()),
        runs_(jobs.size()) {
    run_.outcomes = IdVector<JobId, JobOutcome>(jobs.size());
    for (const FailureSource& source : rules.failures.sources) { run_.failures.push_back({source.name}); }
  }

  JobsRun run(const std::stop_token& stop) {
    for (WallTime next = next_instant(); next <= rules_.horizon && next != WallTime::max(); next = next_instant()) {
      if (stop.stop_requested()) { throw Interrupted(); }
      state_.advance(next);
      bool changed = take_events();
      changed = fail_parts() || changed;
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

  /// Whether anything of a job may still happen.
  bool has_work() const {
    return next_submission() != WallTime::max() || !state_.running().empty() || scheduler_.waiting() > 0;
  }

  WallTime next_instant() const {
    if (!has_work()) { return WallTime::max(); }
    WallTime next = std::min(next_submission(), events_.empty() ? WallTime::max() : events_.top().when);
    // Parts fail for ever: where only they are left, nothing changes for jobs that wait.
    const bool moves = next != WallTime::max() || !state_.running().empty();
    if (moves) { next = std::min(next, failures_.next()); }
    const WallTime period = scheduler_.period();
    if (period > WallTime::zero()) {
      if (pending_) { next = std::min(next, state_.now() - state_.now() % period + period); }
    } else {
      next = std::min(next, std::max(scheduler_.next_call(state_), state_.now()));
    }
    return next;
  }

  bool is_time_to_schedule() const {
    const WallTime period = scheduler_.period();
    return period == WallTime::zero() || state_.now() % period == WallTime::zero();
  }

  std::uint64_t push(WallTime when, Due due, std::uint32_t what) {
    if (when == WallTime::max()) { return 0; }
    events_.push({when, ++orders_, static_cast<std::uint64_t>(due) << 32U | what});
    return orders_;
  }

  bool take_events() {
    bool changed = false;
    while (!events_.empty() && events_.top().when == state_.now()) {
      const EventAt<WallTime> event = events_.top();
      events_.pop();
      const auto what = static_cast<std::uint32_t>(event.what);
      switch (static_cast<Due>(event.what >> 32U)) {
        case Due::job:
          if (runs_[JobId{what}].due == event.order) { changed = go_on(JobId{what}) || changed; }
          break;
        case Due::release:
          if (runs_[JobId{what}].due == event.order) { changed = release(JobId{what}) || changed; }
          break;
        case Due::failure:
          if (runs_[JobId{what}].failure == event.order) { interrupt(JobId{what}, runs_[JobId{what}].cause); }
          break;
        case Due::repair: changed = standby_.repaired(NodeId{what}, state_.now(), state_.inventory()) || changed; break;
      }
      ++run_.events;
    }
    if (changed) { state_.surprise(); }
    return changed;
  }

  bool fail_parts() {
    bool changed = false;
    while (failures_.next() == state_.now()) {
      const FailureProcess::Failure failure = failures_.take();
      ++run_.failures[failure.source].failures;
      ++run_.events;
      for (const NodeId node : failure.nodes) {
        standby_.lost(node, failure.repaired, state_.inventory());
        push(failure.repaired, Due::repair, node.value);
      }
      interrupt_on(failure);
      state_.surprise();
      changed = true;
    }
    return changed;
  }

  void interrupt_on(const FailureProcess::Failure& failure) {
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

  /// A running job fails, and holds its nodes until somebody sees it.
  void interrupt(JobId job, std::uint32_t cause) {
    JobRun& run = runs_[job];
    if (run.has_failed) { return; }
    close_account(job);
    run.has_failed = true;
    run.cause = cause;
    run.failed = state_.now();
    run.failure = 0;
    JobOutcome& outcome = run_.outcomes[job];
    ++outcome.interruptions;
    ++run_.failures[cause].interruptions;
    const WallTime lost = run.progress.done().time - run.progress.kept().time;
    outcome.time.lost += lost;
    run_.failures[cause].lost_gpu_seconds += seconds(lost) * gpus_of(job);
    run.progress.fall_back();
    run.due = push(state_.now() + rules_.failures.detection.draw(detection_), Due::release, job.value);
  }

  bool release(JobId job) {
    JobRun& run = runs_[job];
    const WallTime detecting = state_.now() - run.failed;
    run_.outcomes[job].time.detecting += detecting;
    run_.failures[run.cause].lost_gpu_seconds += seconds(detecting) * gpus_of(job);
    leave(job);
    state_.stop(job);
    state_.take_stopped();
    run_.outcomes[job].state = JobState::waiting;
    scheduler_.enqueue(job, state_);
    return true;
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
    JobRun& run = runs_[job];
    if (!run.on_nodes) { return; }  // it was started in the same breath
    if (!run.has_failed) {
      close_account(job);
      if (rules_.preempted == Preempted::goes_on) {
        run.progress.keep();
      } else {
        run_.outcomes[job].time.lost += run.progress.done().time;
        run.progress = {};
      }
    }
    run.cause = kNoCause;
    leave(job);
    run_.outcomes[job].state = JobState::waiting;
    if (!state_.is_running(job)) { scheduler_.enqueue(job, state_); }
  }

  void begin(JobId job) {
    if (!state_.is_running(job)) { return; }  // it has been stopped in the same breath
    JobOutcome& outcome = run_.outcomes[job];
    JobRun& run = runs_[job];
    const bool again = outcome.starts++ > 0;
    if (!again) { outcome.started = state_.now(); }
    outcome.state = JobState::running;
    const Allocation& where = state_.running(job).where;
    if (rules_.keep_allocations) { outcome.where = where; }
    const WallTime overhead = again ? rules_.restart_overhead : WallTime{};
    const CheckpointRules& saves = rules_.checkpoints;
    const WallTime interval =
        saves.rule == CheckpointRules::Rule::none ? WallTime::max() : interval_of(saves, failures_.mttf(where));
    run.progress.begin(state_.now(), overhead, interval, saves.write, saves.persist);
    run.since = state_.now();
    run.ready = state_.now() + overhead;
    run.on_nodes = true;
    run.has_failed = false;
    others_changed_ = true;
    busy_milli_ += gpu_milli_of(jobs_.shape(job));
    expect_failure(job);
    pace(job);
  }

  void expect_failure(JobId job) {
    const auto [when, source] = failures_.job_failure(state_.now());
    if (when == WallTime::max()) { return; }
    account_start(job);
    runs_[job].cause = source;
    runs_[job].failure = push(when, Due::failure, job.value);
  }

  /// Asks how fast a running job goes on, and schedules what is due next.
  void pace(JobId job) {
    JobRun& run = runs_[job];
    if (run.has_failed) { return; }
    run.pace = speeds_.pace(state_.running(job), run.progress.work(), state_);
    run.progress.set_speed(run.pace.speed);
    const WallTime target = std::min(run.pace.until, jobs_.jobs[job].duration);
    run.due = push(std::min(run.progress.when(target), ends_by(job)), Due::job, job.value);
  }

  WallTime ends_by(JobId job) const {
    const WallTime limit = jobs_.jobs[job].limit;
    const WallTime since = runs_[job].since;
    return limit > WallTime::max() - since ? WallTime::max() : since + limit;
  }

  /// What was due of a running job. True: it has ended.
  bool go_on(JobId job) {
    JobRun& run = runs_[job];
    run.progress.advance(state_.now());
    const bool completed = run.progress.work() >= jobs_.jobs[job].duration;
    if (!completed && state_.now() < ends_by(job)) {
      pace(job);
      return false;
    }
    close_account(job);
    JobOutcome& outcome = run_.outcomes[job];
    outcome.state = completed ? JobState::completed : JobState::timed_out;
    outcome.ended = state_.now();
    outcome.time.useful = run.progress.done().time;
    leave(job);
    state_.stop(job);
    state_.take_stopped();
    scheduler_.ended(job, state_);
    run_.ended = state_.now();
    return true;
  }

  /// Brings a job's progress up to the present, and notes what the time since its start was beside work.
  void close_account(JobId job) {
    JobRun& run = runs_[job];
    run.progress.advance(state_.now());
    run_.outcomes[job].time.writing += run.progress.writing();
    account_start(job);
    const WallTime starting = std::min(state_.now(), run.ready) - run.since;
    run_.outcomes[job].time.starting += starting;
  }

  /// Notes what beginning again costs by its cause, once.
  void account_start(JobId job) {
    JobRun& run = runs_[job];
    if (run.cause == kNoCause || run.has_failed || run.failure != 0) { return; }
    run_.failures[run.cause].lost_gpu_seconds += seconds(run.ready - run.since) * gpus_of(job);
    run.cause = kNoCause;
  }

  void leave(JobId job) {
    JobRun& run = runs_[job];
    run.on_nodes = false;
    run.due = 0;
    run.failure = 0;
    others_changed_ = true;
    busy_milli_ -= gpu_milli_of(jobs_.shape(job));
  }

  double gpus_of(JobId job) const { return static_cast<double>(gpu_milli_of(jobs_.shape(job))) / Inventory::kWhole; }

  void pace_anew() {
    for (const RunningJob& running : state_.running()) {
      runs_[running.job].progress.advance(state_.now());
      pace(running.job);
    }
  }

  void note_usage() {
    run_.usage.set(state_.now(),
                   {static_cast<double>(busy_milli_) / Inventory::kWhole, static_cast<double>(state_.running().size()),
                    static_cast<double>(scheduler_.waiting())});
  }

  void finish() {
    const bool cut = rules_.horizon != WallTime::max() && has_work() && next_instant() != WallTime::max();
    if (cut) { run_.ended = rules_.horizon; }
    run_.usage.end(run_.ended);
    state_.advance(run_.ended);
    for (const RunningJob& running : state_.running()) {
      JobRun& run = runs_[running.job];
      if (run.has_failed) {
        run_.outcomes[running.job].time.detecting += state_.now() - run.failed;
      } else {
        close_account(running.job);
      }
      run_.outcomes[running.job].time.useful = run.progress.done().time;
    }
    for (const JobId job : jobs_.jobs.ids()) {
      JobOutcome& outcome = run_.outcomes[job];
      if (outcome.state != JobState::waiting) { continue; }
      outcome.time.useful = runs_[job].progress.done().time;
      if (!cut && run_.stuck.size() < kStuckNamed) { run_.stuck.push_back({job, scheduler_.reason(job, state_)}); }
    }
  }

  const JobList& jobs_;
  Scheduler& scheduler_;
  SpeedModel& speeds_;
  const JobsRules& rules_;
  ClusterState state_;
  FailureProcess failures_;
  RandomStream detection_;
  StandbyNodes standby_;
  IdVector<JobId, JobRun> runs_;
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
