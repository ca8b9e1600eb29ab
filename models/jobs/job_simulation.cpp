#include "models/jobs/job_simulation.hpp"

#include <algorithm>
#include <utility>

#include "models/jobs/later.hpp"

namespace athanor {

void JobSimulation::begin(JobId job) {
  if (!state_.is_running(job)) { return; }  // it has been stopped in the same breath
  Work& work = works_[job];
  work.on_nodes = true;
  work.began = state_.now();
  work.milli = gpu_milli_of(state_.running(job).where, jobs_.shape(job));
  busy_milli_ += work.milli;
  if (rules_.checkpoints.rule == CheckpointRules::Rule::none) { return start_anew(job, WallTime::max()); }
  CheckpointRules rules = rules_.checkpoints;
  work.write = rules.write = speeds_.write_time(state_.running(job)).value_or(rules.write);
  start_anew(job, interval_of(rules, failures_.mttf(state_.running(job).where)));
}

void JobSimulation::start_anew(JobId job, WallTime interval, bool in_place) {
  JobOutcome& outcome = run_.outcomes[job];
  Work& work = works_[job];
  const bool again = outcome.starts++ > 0;
  if (!again) { outcome.started = state_.now(); }
  outcome.state = JobState::running;
  if (rules_.keep_allocations || rules_.keep_stints) { outcome.where = state_.running(job).where; }
  WallTime overhead = again ? rules_.restart_overhead : rules_.start_overhead;
  if (in_place) { overhead = rules_.failures.in_place_overhead.value_or(overhead); }
  work.interval = interval;
  overhead += begin_work(job, overhead);
  work.slowed = work.progress.done().slowed;
  work.since = state_.now();
  work.ready = state_.now() + overhead;
  work.has_failed = false;
  lacking_.erase(job);
  work.start_cause = std::exchange(work.cause, kNoCause);
  state_.stall(job, false);
  note_start(job, overhead);
  expect_failure(job);
  others_changed_ = true;
  if (!speeds_.depends_on_others()) { pace(job); }  // else all are asked at the end of this instant
}

WallTime JobSimulation::begin_work(JobId job, WallTime overhead) {
  Work& work = works_[job];
  const CheckpointRules& saves = rules_.checkpoints;
  if (std::exchange(work.from_memory, false)) {
    ++run_.failures[work.cause].from_memory;
    work.progress.resume(state_.now(), overhead + saves.memory->restore);
    return saves.memory->restore;
  }
  WallTime restore;
  if (work.progress.kept().work > WallTime::zero()) {
    restore = speeds_.restore_time(state_.running(job)).value_or(saves.restore);
  }
  JobProgress::InMemory memory;
  if (saves.memory) { memory = {saves.memory->interval, saves.memory->write, saves.memory->persist}; }
  work.progress.begin(state_.now(), overhead + restore, work.interval, work.write, saves.persist, memory);
  return restore;
}

void JobSimulation::pace(JobId job) {
  Work& work = works_[job];
  if (work.has_failed) { return; }
  JobPace pace = speeds_.pace(state_.running(job), work.progress.work(), state_);
  const bool in_proportion = jobs_.jobs[job].is_elastic() && !speeds_.expected(job, work.progress.work(), 1, 1);
  if (in_proportion) { pace.speed = pace.speed.scaled(work.milli, gpu_milli_of(jobs_.shape(job))); }
  account_slowness(job);
  const SlowNodes::Slowest slowest = slow_.slowest(state_.running(job).where);
  work.slow_cause = slowest.source;
  pace.speed = pace.speed.scaled(slowest.speed.parts, Speed{}.parts);
  note_speed(job, pace.speed);
  work.progress.set_speed(pace.speed, slowest.speed);
  WallTime due = std::max(state_.now(), ends_by(job));
  if (speeds_.shares_writes()) {
    work.progress.set_write_speed(speeds_.write_speed(state_.running(job), work.progress.is_writing()));
    due = std::min(due, work.progress.next_phase());
  }
  const WallTime target = std::min(pace.until, jobs_.jobs[job].duration);
  work.due = push(std::min(work.progress.when(target), due), Due::job, job.value);
}

void JobSimulation::pace_anew() {
  for (const RunningJob& running : state_.running()) {
    if (works_[running.job].has_failed) { continue; }
    works_[running.job].progress.advance(state_.now());
    pace(running.job);
  }
}

WallTime JobSimulation::ends_by(JobId job) const { return later(state_.running(job).since, jobs_.jobs[job].limit); }

WallTime JobSimulation::work_done(JobId job) const {
  const Work& work = works_[job];
  if (!work.on_nodes || work.has_failed) { return work.progress.work(); }
  JobProgress now = work.progress;
  now.advance(state_.now());
  return now.work();
}

bool JobSimulation::go_on(JobId job) {
  Work& work = works_[job];
  if (work.has_failed) {
    account_standstill(job);
    end(job, JobState::timed_out);
    return true;
  }
  work.progress.advance(state_.now());
  const bool completed = work.progress.work() >= jobs_.jobs[job].duration;
  if (!completed && state_.now() < ends_by(job)) {
    pace(job);
    return false;
  }
  close_account(job);
  end(job, completed ? JobState::completed : JobState::timed_out);
  if (!completed) { return true; }
  for (const JobId next : dependencies_.completed(job)) { scheduler_.enqueue(next, state_); }
  return true;
}

void JobSimulation::end(JobId job, JobState state) {
  note(job, state == JobState::completed ? "is completed"
            : state == JobState::failed  ? "is given up"
                                         : "is ended by its limit");
  JobOutcome& outcome = run_.outcomes[job];
  outcome.state = state;
  outcome.ended = state_.now();
  account_useful(job);
  leave(job);
  state_.stop(job);
  state_.take_stopped();
  scheduler_.ended(job, state_);
  run_.ended = state_.now();
}

void JobSimulation::lose_nodes(JobId job) {
  Work& work = works_[job];
  if (!work.on_nodes) { return; }  // it was started in the same breath
  lose_memory(job);
  if (work.has_failed) {
    account_standstill(job);
  } else {
    close_account(job);
    if (rules_.preempted == Preempted::goes_on) {
      work.progress.keep();
    } else {
      run_.outcomes[job].time.lost += work.progress.unhindered();
      work.progress = {};
    }
  }
  work.cause = kNoCause;
  note(job, "loses its nodes to others");
  leave(job);
  run_.outcomes[job].state = JobState::waiting;
  if (!state_.is_running(job)) { scheduler_.enqueue(job, state_); }
}

void JobSimulation::note_stint(JobId job) {
  if (!rules_.keep_stints) { return; }
  run_.stints.push_back({job, works_[job].since, state_.now(), run_.outcomes[job].where});
}

void JobSimulation::leave(JobId job) {
  Work& work = works_[job];
  note_stint(job);
  account_gpus(job);
  work.on_nodes = false;
  shrunk_.erase(job);
  lacking_.erase(job);
  work.due = 0;
  work.failure = 0;
  others_changed_ = true;
  busy_milli_ -= work.milli;
}

void JobSimulation::close_account(JobId job) {
  Work& work = works_[job];
  work.progress.advance(state_.now());
  account_slowness(job);
  speeds_.stopped(job, work.progress.work(), state_.now());
  run_.outcomes[job].time.writing += work.progress.writing();
  const WallTime starting = std::min(state_.now(), work.ready) - work.since;
  run_.outcomes[job].time.starting += starting;
  if (work.start_cause != kNoCause) {
    run_.failures[work.start_cause].lost_gpu_seconds += seconds(starting) * gpus_of(job);
  }
}

void JobSimulation::account_gpus(JobId job) {
  run_.outcomes[job].gpu_seconds += gpus_of(job) * seconds(state_.now() - works_[job].began);
}

void JobSimulation::account_useful(JobId job) { run_.outcomes[job].time.useful = works_[job].progress.unhindered(); }

void JobSimulation::account_slowness(JobId job) {
  if (slow_.never()) { return; }
  Work& work = works_[job];
  const WallTime slowed = work.progress.done().slowed - work.slowed;
  if (slowed == WallTime::zero()) { return; }
  work.slowed += slowed;
  run_.outcomes[job].time.slowed += slowed;
  run_.failures[work.slow_cause].lost_gpu_seconds += seconds(slowed) * gpus_of(job);
}

void JobSimulation::account_standstill(JobId job) {
  Work& work = works_[job];
  const WallTime stood = state_.now() - work.failed;
  TimeOnNodes& time = run_.outcomes[job].time;
  (lacks_tasks(job) ? time.incomplete : time.detecting) += stood;
  run_.failures[work.cause].lost_gpu_seconds += seconds(stood) * gpus_of(job);
  work.failed = state_.now();
}

double JobSimulation::gpus_of(JobId job) const { return static_cast<double>(works_[job].milli) / Inventory::kWhole; }

}  // namespace athanor
