#include "models/experiments/shared_cluster_record.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/core.h>

#include "models/experiments/shared_cluster_columns.hpp"
#include "models/experiments/table.hpp"
#include "models/jobs/logged_waits.hpp"
#include "models/jobs/summary.hpp"

namespace athanor {

namespace {

void put_summary(const JobsSummary& summary, Record& record) {
  record.put(kSubmitted, summary.submitted);
  record.put(kCompleted, summary.completed);
  record.put(kTimedOut, summary.timed_out);
  record.put(kGivenUp, summary.failed);
  record.put(kNeverStarted, summary.submitted - summary.started);
  record.put(kQueued, summary.queued);
  record.put(kRestarts, summary.restarts);
  if (summary.completed + summary.timed_out + summary.failed > 0) {
    record.put(kCompletionMean, summary.completion.mean);
    record.put(kCompletionMedian, summary.completion.median);
    record.put(kCompletionP99, summary.completion.p99);
  }
  if (summary.started > 0) {
    record.put(kWaitMean, summary.wait.mean);
    record.put(kWaitMedian, summary.wait.median);
    record.put(kWaitP90, summary.wait.p90);
    record.put(kWaitP99, summary.wait.p99);
    record.put(kWaitMost, summary.wait.most);
  }
  if (summary.completed > 0) {
    record.put(kSlowdownMean, summary.slowdown.mean);
    record.put(kSlowdownP99, summary.slowdown.p99);
  }
  record.put(kUtilisation, summary.utilisation);
  record.put(kQueueLength, summary.queue_length);
  record.put(kMakespan, summary.makespan);
  record.put(kGpuHours, summary.gpu_hours);
  record.put(kFairness, summary.fairness);
  record.put(kGoodput, summary.goodput);
  record.put(kEffectiveTime, summary.effective_time);
}

/// How often jobs of each size fail, and how often they should save what they do.
void put_sizes(const JobsSummary& summary, const CheckpointRules& saves, Record& record) {
  JsonValue mttf = JsonValue::object();
  JsonValue best = JsonValue::object();
  constexpr double kMicrosecondsPerHour = 3.6e9;
  for (const auto& [gpus, alike] : summary.by_size) {
    const auto hours = alike.mttf_hours();
    if (!hours) { continue; }
    const std::string size = fmt::format("{:g}", gpus);
    mttf[size] = *hours;
    std::string remark = fmt::format("jobs of {} GPUs fail every {:.3g} h", size, *hours);
    const auto of_storage = alike.mttf_hours_of_storage();
    if (saves.write > WallTime::zero() && of_storage) {
      const WallTime mean{std::max<std::int64_t>(1, std::llround(*of_storage * kMicrosecondsPerHour))};
      best[size] = seconds(optimal_interval(saves.write, mean));
      remark +=
          fmt::format(": a checkpoint every {:.3g} s would be best", seconds(optimal_interval(saves.write, mean)));
    }
    record.remarks.push_back(std::move(remark));
  }
  record.put(kMttf, mttf);
  if (saves.write > WallTime::zero()) { record.put(kBestInterval, best); }
}

void put_failures(const JobsRun& run, const JobsSummary& summary, const JobsRules& rules, Record& record) {
  if (run.failures.empty()) { return; }
  constexpr double kHour = 3600;
  JsonValue failures = JsonValue::object();
  JsonValue lost = JsonValue::object();
  JsonValue from_memory = JsonValue::object();
  for (const FailureAccount& account : run.failures) {
    failures[account.name] = account.failures;
    from_memory[account.name] = account.from_memory;
    lost[account.name] = account.lost_gpu_seconds / kHour;
  }
  lost["checkpoints"] = summary.writing_gpu_hours;
  record.put(kInterruptions, summary.interruptions);
  record.put(kFailures, failures);
  record.put(kLostGpuHours, lost);
  if (rules.checkpoints.memory) { record.put(kFromMemory, from_memory); }
  if (rules.failures.cordon) { record.put(kCordoned, run.cordoned); }
}

/// Where a cluster is filled: how much of it jobs had when so much had been asked for, as far as that came.
void put_allocated(const JobsRun& done, const WorkloadConfig& workload, Record& record) {
  static constexpr std::array kDemands{0.8, 1.0, 1.2, 1.3};
  static constexpr std::array kColumns{&kAllocatedAt80, &kAllocatedAt100, &kAllocatedAt120, &kAllocatedAt130};
  const auto shares = allocated_at(kDemands, *workload.jobs, done, workload.nodes->gpus());
  for (std::size_t i = 0; i < kDemands.size(); ++i) {
    if (to_double(workload.log->fill->demand) >= kDemands[i]) { record.put(*kColumns[i], shares[i]); }
  }
}

JsonValue json_of(const TimeSummary& logged, const TimeSummary& simulated) {
  const auto both = [](double in_log, double here) { return JsonValue{{"logged_s", in_log}, {"simulated_s", here}}; };
  return {{"mean", both(logged.mean, simulated.mean)},
          {"median", both(logged.median, simulated.median)},
          {"p90", both(logged.p90, simulated.p90)},
          {"p99", both(logged.p99, simulated.p99)},
          {"max", both(logged.most, simulated.most)}};
}

/// What the log says of waits, beside what was simulated.
void put_logged(const JobsRun& run, const JobList& jobs, const WorkloadConfig& workload, Record& record) {
  const std::optional<LoggedWaits> waits = logged_waits(workload.logged_waits, run, jobs);
  if (!waits) { return; }
  record.put(kLoggedWaitMean, waits->logged.mean);
  record.put(kLoggedWaitMedian, waits->logged.median);
  JsonValue json = json_of(waits->logged, waits->simulated);
  json["jobs"] = waits->jobs;
  json["median_difference_s"] = waits->median_difference;
  json["within_a_minute"] = waits->within_a_minute;
  json["rank_correlation"] = waits->correlation;
  json["queues"] = JsonValue::object();
  for (const auto& [name, queue] : waits->queues) {
    json["queues"][name] = {{"jobs", queue.jobs}, {"logged_s", queue.logged}, {"simulated_s", queue.simulated}};
  }
  record.put(kLoggedWaits, std::move(json));
  record.remarks.push_back(fmt::format("in the log they waited {:.1f} s on average, {:.1f} s in the median",
                                       waits->logged.mean, waits->logged.median));
}

/// Nodes with how many GPUs each, in all its tasks there: "3:8 4:0.46".
std::string places_text(const Allocation& where, const Shape& shape) {
  std::map<NodeId, std::uint64_t> milli;
  for (const NodeShare& share : where) { milli[share.node] += gpu_milli_of({share}, shape); }
  std::string text;
  for (const auto& [node, here] : milli) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", node.value, static_cast<double>(here) / 1000);
  }
  return text;
}

/// In all digits; "" for never.
std::string seconds_text(WallTime time) {
  constexpr std::int64_t kSecond = 1'000'000;
  if (time == WallTime::max()) { return ""; }
  if (time.count() % kSecond == 0) { return fmt::format("{}", time.count() / kSecond); }
  return fmt::format("{:.6f}", seconds(time));
}

/// "" for jobs that are not completed.
std::string slowdown_text(const Job& job, const JobOutcome& outcome) {
  if (outcome.state != JobState::completed) { return ""; }
  return fmt::format("{:.4g}", bounded_slowdown(seconds(outcome.ended - job.submitted), seconds(job.duration)));
}

/// What its place and the others have cost a job that trains, as factors of its time; empty fields for other jobs.
std::string costs_text(const TrainingSpeeds* trainings, JobId job) {
  if (trainings == nullptr) { return ","; }
  const auto found = trainings->paces().find(job);
  if (found == trainings->paces().end() || found->second.best == 0) { return ","; }
  const TrainingPace& pace = found->second;
  return fmt::format("{:.4g},{:.4g}", pace.alone / pace.best, pace.time / pace.alone);
}

void put_stuck(const JobsRun& run, const JobList& jobs, Record& record) {
  std::vector<std::string> stuck;
  for (const StuckJob& each : run.stuck) {
    stuck.push_back(fmt::format("{} {}", jobs.title(each.job), each.reason));
    record.remarks.push_back((run.outcomes[each.job].starts > 0 ? "never ends: " : "never starts: ") + stuck.back());
  }
  if (!stuck.empty()) { record.put(kStuck, stuck); }
}

}  // namespace

std::string_view text_of(JobState state) {
  switch (state) {
    case JobState::waiting: return "waiting";
    case JobState::running: return "running";
    case JobState::completed: return "completed";
    case JobState::timed_out: return "timed_out";
    case JobState::failed: return "failed";
  }
  return "";
}

void put_run(const JobsRun& run, const JobList& jobs, const WorkloadConfig& workload, Record& record) {
  const JobsSummary summary = summary_of(run, jobs, *workload.nodes);
  put_summary(summary, record);
  put_logged(run, jobs, workload, record);
  put_failures(run, summary, workload.rules, record);
  if (summary.interruptions > 0) { put_sizes(summary, workload.rules.checkpoints, record); }
  if (workload.log && workload.log->fill) { put_allocated(run, workload, record); }
  put_stuck(run, jobs, record);
}

void put_trainings(const TrainingSpeeds& trainings, const JobList& jobs, Record& record) {
  TrainingPace all;
  for (const auto& [job, pace] : trainings.paces()) {
    const double gpus = static_cast<double>(gpu_milli_of(jobs.shape(job)));
    all.time += pace.time * gpus;
    all.alone += pace.alone * gpus;
    all.best += pace.best * gpus;
  }
  if (all.best == 0) { return; }
  record.put(kTrainingPlacement, all.alone / all.best);
  record.put(kTrainingInterference, all.time / all.alone);
  record.remarks.push_back(
      fmt::format("trainings: {} placements priced, {} groups of those that meet on links simulated side by side",
                  trainings.placements(), trainings.side_by_side()));
}

std::string per_job_names() {
  return "case,seed,job,name,user,queue,gpus,state,submitted_s,started_s,ended_s,duration_s,wait_s,ran_s,starts,"
         "nodes" +
         data_names() + ",slowdown,interruptions,placement,interference\n";
}

std::string job_lines(const JobList& jobs, const JobsRun& done, const DataOutcome* data,
                      const TrainingSpeeds* trainings, const std::string& head) {
  std::string lines;
  for (const JobId id : jobs.jobs.ids()) {
    const Job& job = jobs.jobs[id];
    const JobOutcome& outcome = done.outcomes[id];
    const bool started = outcome.starts > 0;
    lines +=
        head + fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}{},{},{},{}\n", id.value,
                           csv_field(jobs.title(id)), csv_field(jobs.name(job.user)), csv_field(jobs.name(job.queue)),
                           static_cast<double>(gpu_milli_of(jobs.shape(id))) / 1000, text_of(outcome.state),
                           seconds_text(job.submitted), seconds_text(outcome.started), seconds_text(outcome.ended),
                           seconds_text(job.duration), started ? seconds_text(outcome.started - job.submitted) : "",
                           seconds_text(outcome.ran()), outcome.starts, places_text(outcome.where, jobs.shape(id)),
                           data_fields(data, id), slowdown_text(job, outcome), outcome.interruptions,
                           costs_text(trainings, id));
  }
  return lines;
}

}  // namespace athanor
