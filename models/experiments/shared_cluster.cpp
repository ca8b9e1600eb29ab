#include "models/experiments/shared_cluster.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

#include "models/experiments/network_columns.hpp"
#include "models/experiments/table.hpp"
#include "models/jobs/job_timeline.hpp"
#include "models/jobs/summary.hpp"
#include "sim/error.hpp"
#include "sim/format.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

constexpr Column kWorkload{.key = "workload", .role = ColumnRole::subject};  ///< how many jobs of which file
constexpr Column kScheduler{.key = "scheduler",
                            .role = ColumnRole::choice,
                            .shown = {.in_reports = Shown::Report::word}};  ///< who decides when jobs run
constexpr Column kPlacement{.key = "placement",
                            .role = ColumnRole::choice,
                            .shown = {.in_reports = Shown::Report::word}};  ///< the policy of placement
constexpr Column kSubmitted{"submitted", "jobs", "", 8, Format::count};  ///< jobs, within the time that was simulated
constexpr Column kCompleted{"completed", "done", "", 8, Format::count};  ///< ended by themselves
constexpr Column kTimedOut{"timed_out"};                                 ///< ended by their limits
constexpr Column kNeverStarted{"never_started"};                         ///< submitted, and waiting to the end
constexpr Column kQueued{"queued", "queued", "", 8, Format::count};      ///< did not start at once
constexpr Column kRestarts{"restarts"};                                  ///< starts of jobs beyond their first
constexpr Column kCompletionMean{
    .key = "completion_s_mean",
    .head = "completion",
    .unit = "(s)",
    .width = 11,
    .format = Format::one_decimal,
    .role = ColumnRole::time,
    .shown = {.in_sweeps = true, .in_reports = Shown::Report::figure, .axis = "Completion (s)"}};  ///< from submission
                                                                                                   ///< to end, of jobs
                                                                                                   ///< that ended
constexpr Column kCompletionMedian{"completion_s_median"};                                         ///< median
constexpr Column kCompletionP99{"completion_s_p99"};                                               ///< 99th percentile
constexpr Column kWaitMean{
    .key = "wait_s_mean",
    .head = "wait",
    .unit = "(s)",
    .width = 11,
    .format = Format::one_decimal,
    .shown = {.in_sweeps = true, .in_reports = Shown::Report::figure, .axis = "Wait (s)"}};  ///< from submission to
                                                                                             ///< the first start
constexpr Column kWaitMedian{"wait_s_median", "median", "(s)", 9, Format::one_decimal};      ///< median
constexpr Column kWaitP90{"wait_s_p90"};                                                     ///< 90th percentile
constexpr Column kWaitP99{.key = "wait_s_p99",
                          .head = "p99",
                          .unit = "(s)",
                          .width = 10,
                          .format = Format::one_decimal,
                          .shown = {.in_sweeps = true, .in_reports = Shown::Report::figure}};  ///< 99th percentile
constexpr Column kWaitMost{"wait_s_max", "max", "(s)", 10, Format::one_decimal};               ///< the longest
constexpr Column kSlowdownMean{"slowdown_mean", "slowdown", "(mean)",
                               8};              ///< completion over duration, at least 10 s and at least 1
constexpr Column kSlowdownP99{"slowdown_p99"};  ///< 99th percentile
constexpr Column kUtilisation{.key = "utilisation",
                              .head = "used",
                              .unit = "(%)",
                              .width = 7,
                              .format = Format::percent,
                              .role = ColumnRole::rate,
                              .shown = {.in_sweeps = true,
                                        .in_reports = Shown::Report::figure,
                                        .axis = "GPUs used (%)"}};        ///< share of all GPUs' time that jobs had
constexpr Column kQueueLength{"queue_length"};                            ///< jobs waiting, on average
constexpr Column kMakespan{"makespan_s"};                                 ///< to the end of the last job
constexpr Column kGpuHours{"gpu_hours"};                                  ///< that jobs had
constexpr Column kAllocatedAt80{"allocated_at_80"};                       ///< of "fill": share of GPUs when 80 % came
constexpr Column kAllocatedAt100{"allocated_at_100"};                     ///< when 100 % of them had been asked for
constexpr Column kAllocatedAt120{"allocated_at_120"};                     ///< 120 %
constexpr Column kAllocatedAt130{"allocated_at_130"};                     ///< 130 %
constexpr Column kFairness{.key = "fairness", .role = ColumnRole::rate};  ///< Jain's index of users' mean slowdowns
constexpr Column kStuck{"stuck"};  ///< why jobs wait that nothing can start any more
constexpr Column kGoodput{
    .key = "goodput",
    .head = "goodput",
    .unit = "(%)",
    .width = 8,
    .format = Format::percent,
    .role = ColumnRole::rate,
    .shown = {.in_sweeps = true,
              .in_reports = Shown::Report::figure,
              .axis = "Goodput (%)"}};  ///< share of the time of GPUs that jobs had which was work that lasted
constexpr Column kEffectiveTime{.key = "effective_time",
                                .head = "effective",
                                .unit = "(%)",
                                .width = 9,
                                .format = Format::percent,
                                .role = ColumnRole::rate,
                                .shown = {.in_sweeps = true}};  ///< the same share of the time from first start to end,
                                                                ///< of all jobs by their GPUs (ETTR)
constexpr Column kInterruptions{"interruptions", "failed", "", 7, Format::count};  ///< of jobs, by failures
constexpr Column kLostGpuHours{"lost_gpu_hours"};  ///< by sources of failures, checkpoints and starts: work lost,
                                                   ///< detection, beginning again
constexpr Column kFailures{"failures"};            ///< of parts, by source
constexpr Column kMttf{"mttf_h"};  ///< hours that jobs run until a failure hits them, on average, by their GPUs
constexpr Column kBestInterval{"best_interval_s"};  ///< between checkpoints, that costs least at that rate of failures,
                                                    ///< by GPUs of jobs
constexpr Column kEffectiveTimeP5{"effective_time_p5", "p5", "(%)", 6,
                                  Format::percent};  ///< of several seeds: 5th percentile
constexpr Column kEffectiveTimeP95{"effective_time_p95", "p95", "(%)", 6,
                                   Format::percent};  ///< of several seeds: 95th percentile
constexpr Column kCompletionP5{"completion_s_p5", "p5", "(s)", 11,
                               Format::one_decimal};  ///< of several seeds: 5th percentile
constexpr Column kCompletionP95{"completion_s_p95", "p95", "(s)", 11,
                                Format::one_decimal};  ///< of several seeds: 95th percentile

void put_summary(const JobsSummary& summary, Record& record) {
  record.put(kSubmitted, summary.submitted);
  record.put(kCompleted, summary.completed);
  record.put(kTimedOut, summary.timed_out);
  record.put(kNeverStarted, summary.submitted - summary.started);
  record.put(kQueued, summary.queued);
  record.put(kRestarts, summary.restarts);
  if (summary.completed + summary.timed_out > 0) {
    record.put(kCompletionMean, summary.completion.mean);
    record.put(kCompletionMedian, summary.completion.median);
    record.put(kCompletionP99, summary.completion.p99);
  }
  record.put(kWaitMean, summary.wait.mean);
  record.put(kWaitMedian, summary.wait.median);
  record.put(kWaitP90, summary.wait.p90);
  record.put(kWaitP99, summary.wait.p99);
  record.put(kWaitMost, summary.wait.most);
  record.put(kSlowdownMean, summary.slowdown.mean);
  record.put(kSlowdownP99, summary.slowdown.p99);
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
    if (saves.write > WallTime::zero()) {
      const WallTime mean{std::max<std::int64_t>(1, std::llround(*hours * kMicrosecondsPerHour))};
      best[size] = seconds(optimal_interval(saves.write, mean));
      remark +=
          fmt::format(": a checkpoint every {:.3g} s would be best", seconds(optimal_interval(saves.write, mean)));
    }
    record.remarks.push_back(std::move(remark));
  }
  record.put(kMttf, mttf);
  if (saves.write > WallTime::zero()) { record.put(kBestInterval, best); }
}

void put_failures(const JobsRun& run, const JobsSummary& summary, Record& record) {
  if (run.failures.empty()) { return; }
  constexpr double kHour = 3600;
  JsonValue failures = JsonValue::object();
  JsonValue lost = JsonValue::object();
  for (const FailureAccount& account : run.failures) {
    failures[account.name] = account.failures;
    lost[account.name] = account.lost_gpu_seconds / kHour;
  }
  lost["checkpoints"] = summary.writing_gpu_hours;
  record.put(kInterruptions, summary.interruptions);
  record.put(kFailures, failures);
  record.put(kLostGpuHours, lost);
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

std::string name_of(JobId id, const JobList& jobs) {
  const std::string& name = jobs.name(jobs.jobs[id].name);
  return name.empty() ? fmt::format("job {}", id.value) : name;
}

/// Nodes with how many GPUs each: "3:8 4:4".
std::string places_text(const Allocation& where) {
  std::string text;
  for (const NodeShare& share : where) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", share.node.value, share.gpus.count());
  }
  return text;
}

std::string_view text_of(JobState state) {
  switch (state) {
    case JobState::waiting: return "waiting";
    case JobState::running: return "running";
    case JobState::completed: return "completed";
    case JobState::timed_out: return "timed_out";
  }
  return "";
}

/// In all digits; "" for never.
std::string seconds_text(WallTime time) {
  constexpr std::int64_t kSecond = 1'000'000;
  if (time == WallTime::max()) { return ""; }
  if (time.count() % kSecond == 0) { return fmt::format("{}", time.count() / kSecond); }
  return fmt::format("{:.6f}", seconds(time));
}

std::string job_lines(const JobList& jobs, const JobsRun& done, const std::string& head) {
  std::string lines;
  for (const JobId id : jobs.jobs.ids()) {
    const Job& job = jobs.jobs[id];
    const JobOutcome& outcome = done.outcomes[id];
    const bool started = outcome.starts > 0;
    lines +=
        head + fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", id.value, csv_field(name_of(id, jobs)),
                           csv_field(jobs.name(job.user)), csv_field(jobs.name(job.queue)),
                           static_cast<double>(gpu_milli_of(jobs.shape(id))) / 1000, text_of(outcome.state),
                           seconds_text(job.submitted), seconds_text(outcome.started), seconds_text(outcome.ended),
                           seconds_text(job.duration), started ? seconds_text(outcome.started - job.submitted) : "",
                           seconds_text(outcome.ran()), outcome.starts, places_text(outcome.where));
  }
  return lines;
}

}  // namespace

std::string per_job_names() {
  return "case,seed,job,name,user,queue,gpus,state,submitted_s,started_s,ended_s,duration_s,wait_s,ran_s,starts,"
         "nodes\n";
}

JobsRun SharedClusterExperiment::simulate(const JobList& jobs, const Platform& platform,
                                          const RunOptions& options) const {
  const auto placement = workload_.placement->make(*workload_.nodes, jobs, platform.seed);
  const auto scheduler = workload_.scheduler->make(jobs, *workload_.nodes);
  const std::unique_ptr<SpeedModel> speeds = workload_.speeds();
  JobsRules rules = workload_.rules;
  rules.seed = platform.seed;
  rules.keep_allocations = options.per_job;
  rules.keep_stints = options.timeline != nullptr;
  return simulate_jobs(jobs, *workload_.nodes, *placement, *scheduler, *speeds, rules, options.stop);
}

std::span<const Bytes> SharedClusterExperiment::sizes() const {
  static constexpr std::array kNone{Bytes::zero()};
  return kNone;
}

std::string SharedClusterExperiment::label(Bytes /*size*/) const {
  return fmt::format("{} jobs under {}", workload_.jobs->size(), variant());
}

std::vector<Record> SharedClusterExperiment::run(const Run& run) const {
  const std::shared_ptr<const JobList> list = workload_.jobs_of(run.platform.seed);
  const JobList& jobs = *list;
  const JobsRun done = simulate(jobs, run.platform, run.options);
  Record record = run.head;
  record.put(kWorkload, jobs_text());
  record.put(kScheduler, variant());
  record.put(kPlacement, workload_.placement_name);
  const JobsSummary summary = summary_of(done, jobs, *workload_.nodes);
  put_summary(summary, record);
  put_failures(done, summary, record);
  if (summary.interruptions > 0) { put_sizes(summary, workload_.rules.checkpoints, record); }
  if (workload_.log && workload_.log->fill) { put_allocated(done, workload_, record); }
  record.put(kSeed, run.platform.seed);
  std::vector<std::string> stuck;
  for (const StuckJob& each : done.stuck) {
    stuck.push_back(fmt::format("{} {}", name_of(each.job, jobs), each.reason));
    record.remarks.push_back("never starts: " + stuck.back());
  }
  if (!stuck.empty()) { record.put(kStuck, stuck); }
  if (run.options.per_job) {
    record.per_job = job_lines(jobs, done, fmt::format("{},{},", csv_field(run.head.string(kCase)), run.platform.seed));
  }
  if (run.options.timeline != nullptr) { draw(done, jobs, *workload_.nodes, *run.options.timeline); }
  record.effort = fmt::format("{} jobs, {} events", jobs.size(), done.events);
  return {record};
}

WorkCount SharedClusterExperiment::work(const Platform& /*platform*/, Bytes /*size*/,
                                        const RunOptions& /*options*/) const {
  WorkCount count;
  count[Work::operation] = 4 * static_cast<double>(workload_.jobs->size());
  count.bytes = static_cast<double>(workload_.jobs->size() * (sizeof(Job) + sizeof(JobOutcome)));
  return count;
}

namespace {

/// What runs are put in order by: how long jobs take, or what becomes of their time where in some run none ends.
const Column& order_of(const std::vector<Record>& repetitions) {
  const bool all_end = std::all_of(repetitions.begin(), repetitions.end(),
                                   [](const Record& record) { return record.has(kCompletionMean); });
  return all_end ? kCompletionMean : kEffectiveTime;
}

Record row_of(std::vector<Record> repetitions) {
  const Column& order = order_of(repetitions);
  const Repetitions by_effective_time(repetitions, kEffectiveTime);
  const Repetitions all(std::move(repetitions), order);
  Record row = all.median();
  row.put(kSeeds, all.count());
  row.put(kEffectiveTimeP5, by_effective_time.percentile(5).number(kEffectiveTime));
  row.put(kEffectiveTimeP95, by_effective_time.percentile(95).number(kEffectiveTime));
  if (&order != &kCompletionMean) { return row; }
  row.put(kCompletionP5, all.percentile(5).number(kCompletionMean));
  row.put(kCompletionP95, all.percentile(95).number(kCompletionMean));
  return row;
}

}  // namespace

const RepetitionSummary* SharedClusterExperiment::repetitions() const {
  static constexpr RepetitionSummary kSummary{
      "each row is the run in the middle by mean completion, or by effective time", &row_of};
  return &kSummary;
}

std::vector<const Column*> SharedClusterExperiment::columns(bool seeds) const {
  std::vector<const Column*> columns{&kSubmitted, &kCompleted, &kQueued,         &kWaitMean,     &kWaitMedian,
                                     &kWaitP99,   &kWaitMost,  &kCompletionMean, &kSlowdownMean, &kUtilisation};
  const bool fails = !workload_.rules.failures.sources.empty();
  if (fails) { columns.insert(columns.end(), {&kInterruptions, &kGoodput, &kEffectiveTime}); }
  if (seeds && fails) { columns.insert(columns.end(), {&kEffectiveTimeP5, &kEffectiveTimeP95}); }
  if (seeds && !fails) { columns.insert(columns.end(), {&kCompletionP5, &kCompletionP95}); }
  return columns;
}

std::vector<const Column*> SharedClusterExperiment::figures() {
  return {&kWorkload, &kScheduler,   &kPlacement, &kCompletionMean, &kWaitMean,
          &kWaitP99,  &kUtilisation, &kFairness,  &kGoodput,        &kEffectiveTime};
}

std::vector<std::pair<std::string, std::string>> SharedClusterExperiment::description(
    const Platform& /*platform*/) const {
  return {{"workload", fmt::format("{}, {} with placement {}", jobs_text(), variant(), workload_.placement_name)}};
}

std::string SharedClusterExperiment::jobs_text() const {
  const std::size_t count = workload_.jobs->size();
  const std::string jobs = count == 1 ? "1 job" : fmt::format("{} jobs", count);
  return workload_.log ? fmt::format("{} of {} ({})", jobs, workload_.log->file, workload_.log->format_name) : jobs;
}

std::string SharedClusterExperiment::participants() const {
  return fmt::format("{} nodes with {} GPUs", workload_.nodes->count(), workload_.nodes->gpus());
}

std::vector<std::string> SharedClusterExperiment::warnings(const Platform& /*platform*/) const {
  return workload_.notes;
}

std::string SharedClusterExperiment::refusal(const Platform& /*platform*/, Ability ability) const {
  switch (ability) {
    case Ability::per_job:
    case Ability::timeline: return "";
    case Ability::flows: return "--flows writes the messages of traffic, and this is none; use --per-job";
    case Ability::ports:
      return "--ports counts what a simulated network carries, and jobs of given durations use none; leave it out";
    case Ability::memory: return "--strict asks whether a training fits into memory, and this is none; leave it out";
  }
  return "";
}

std::vector<IdleKeys> SharedClusterExperiment::idle_keys(const Platform& /*platform*/) const { return {}; }

void SharedClusterExperiment::check_asked_sizes() const {
  throw UsageError("--sizes: jobs have no sizes; leave out --sizes");
}

}  // namespace athanor
