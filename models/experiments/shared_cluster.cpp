#include "models/experiments/shared_cluster.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "models/experiments/network_columns.hpp"
#include "models/experiments/shared_cluster_columns.hpp"
#include "models/experiments/shared_cluster_picture.hpp"
#include "models/experiments/shared_cluster_record.hpp"
#include "models/experiments/table.hpp"
#include "models/experiments/verification.hpp"
#include "models/jobs/data/data_speed.hpp"
#include "models/jobs/job_timeline.hpp"
#include "models/jobs/nodes_of_cluster.hpp"
#include "sim/config/json_value.hpp"
#include "sim/error.hpp"
#include "sim/format.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

std::unique_ptr<TrainingSpeeds> SharedClusterExperiment::training_speeds(const JobList& jobs, const Platform& platform,
                                                                         const RunOptions& options) const {
  return std::make_unique<TrainingSpeeds>(workload_.trainings, workload_.resolved.activities,
                                          endpoints_by_node(*platform.cluster), workload_.contention,
                                          workload_.speeds(jobs), platform, options);
}

JobsRun SharedClusterExperiment::simulate(const JobList& jobs, SpeedModel& speeds, const Platform& platform,
                                          const RunOptions& options, const Kept& kept) const {
  const auto placement = workload_.placement->make(*workload_.nodes, jobs, platform.seed);
  const auto scheduler = workload_.scheduler->make(jobs, *workload_.nodes);
  JobsRules rules = workload_.rules;
  rules.seed = platform.seed;
  rules.keep_allocations = options.per_job || kept.stints;
  rules.keep_stints = kept.stints || options.timeline != nullptr;
  rules.watched = kept.watched;
  return simulate_jobs(jobs, *workload_.nodes, *placement, *scheduler, speeds, rules, options.stop);
}

namespace {

/// None where jobs read and write nothing.
std::optional<DataOutcome> outcome_of(const DataSpeed* speeds, const JobList& jobs) {
  if (speeds == nullptr) { return std::nullopt; }
  DataOutcome outcome;
  for (const JobId job : jobs.jobs.ids()) { outcome.jobs.push_back(speeds->account(job)); }
  outcome.storages = speeds->storages();
  return outcome;
}

}  // namespace

namespace {

/// By its name or its number.
JobId job_called(std::string_view asked, const JobList& jobs) {
  std::optional<JobId> found;
  for (const JobId id : jobs.jobs.ids()) {
    if (asked != jobs.title(id) && asked != fmt::format("{}", id.value)) { continue; }
    if (found) {
      throw UsageError(
          fmt::format("--job: several jobs are called '{}'; ask by number, as --per-job counts them", asked));
    }
    found = id;
  }
  if (found) { return *found; }
  throw UsageError(
      fmt::format("--job: there is no job '{}'; jobs go by name, or by number from 0 to {}", asked, jobs.size() - 1));
}

}  // namespace

std::span<const Bytes> SharedClusterExperiment::sizes() const {
  static constexpr std::array kNone{Bytes::zero()};
  return kNone;
}

std::string SharedClusterExperiment::label(Bytes /*size*/) const {
  return fmt::format("{} jobs under {}", workload_.jobs->size(), variant());
}

SharedClusterExperiment::Setup SharedClusterExperiment::set_up(const Platform& platform,
                                                               const RunOptions& options) const {
  Setup setup;
  setup.jobs = workload_.jobs_of(platform.seed);
  if (workload_.trainings.empty()) {
    setup.speeds = workload_.speeds(*setup.jobs);
  } else {
    const auto timed = std::make_shared<JobList>(*setup.jobs);
    std::unique_ptr<TrainingSpeeds> trainings = training_speeds(*timed, platform, options);
    trainings->set_durations(*timed);
    setup.jobs = timed;
    setup.trained = trainings.get();
    setup.speeds = std::move(trainings);
  }
  if (workload_.data) {
    auto data = std::make_unique<DataSpeed>(std::move(setup.speeds), *workload_.data, *setup.jobs);
    setup.data = data.get();
    setup.speeds = std::move(data);
  }
  return setup;
}

JobHistory SharedClusterExperiment::history(std::string_view job, const Platform& platform,
                                            const RunOptions& options) const {
  const Setup setup = set_up(platform, options);
  const JobList& jobs = *setup.jobs;
  const JobId id = job_called(job, jobs);
  JobsRun done = simulate(jobs, *setup.speeds, platform, options, {.watched = id, .stints = false});
  JobHistory history{id,
                     jobs.title(id),
                     static_cast<double>(gpu_milli_of(jobs.shape(id))) / Inventory::kWhole,
                     jobs.jobs[id].submitted,
                     jobs.jobs[id].duration,
                     std::move(done.outcomes[id]),
                     std::move(done.story),
                     {}};
  if (setup.trained == nullptr) { return history; }
  const auto found = setup.trained->paces().find(id);
  if (found != setup.trained->paces().end()) { history.pace = found->second; }
  return history;
}

JsonValue SharedClusterExperiment::picture(const Platform& platform, const RunOptions& options) const {
  const Setup setup = set_up(platform, options);
  const JobList& jobs = *setup.jobs;
  const JobsRun done = simulate(jobs, *setup.speeds, platform, options, {.watched = {}, .stints = true});
  const std::optional<DataOutcome> data = outcome_of(setup.data, jobs);
  JsonValue json = picture_json(done, jobs, *workload_.nodes);
  json["scheduler"] = variant();
  json["placement"] = workload_.who_places();
  json["seed"] = platform.seed;
  if (data) { put_data_picture(*data, jobs, *workload_.data, json); }
  if (setup.trained != nullptr) { put_trainings_picture(done, jobs, *platform.cluster->fabric, *setup.trained, json); }
  return json;
}

std::vector<Record> SharedClusterExperiment::run(const Run& run) const {
  const Setup setup = set_up(run.platform, run.options);
  const JobList& jobs = *setup.jobs;
  const JobsRun done = simulate(jobs, *setup.speeds, run.platform, run.options, {});
  const std::optional<DataOutcome> data = outcome_of(setup.data, jobs);
  Record record = run.head;
  record.put(kWorkload, jobs_text());
  record.put(kScheduler, variant());
  record.put(kPlacement, workload_.who_places());
  record.put(kSeed, run.platform.seed);
  put_run(done, jobs, workload_, record);
  if (setup.trained != nullptr) { put_trainings(*setup.trained, jobs, record); }
  if (data) { put_data(*data, jobs, *workload_.data, record); }
  if (run.options.per_job) {
    record.per_job = job_lines(jobs, done, data ? &*data : nullptr, setup.trained,
                               fmt::format("{},{},", csv_field(run.head.string(kCase)), run.platform.seed));
  }
  if (run.options.timeline != nullptr) {
    std::string left_out = draw(done, jobs, *workload_.nodes, *run.options.timeline);
    if (!left_out.empty()) { record.remarks.push_back(std::move(left_out)); }
  }
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
  if (!workload_.trainings.empty()) { columns.insert(columns.end(), {&kTrainingPlacement, &kTrainingInterference}); }
  const bool fails = !workload_.rules.failures.sources.empty();
  if (fails) { columns.insert(columns.end(), {&kInterruptions, &kGoodput, &kEffectiveTime}); }
  const bool reads = !workload_.data_sets.empty();
  if (reads) { columns.insert(columns.end(), {&kStall, &kHits}); }
  if (seeds && fails) { columns.insert(columns.end(), {&kEffectiveTimeP5, &kEffectiveTimeP95}); }
  if (seeds && !fails) { columns.insert(columns.end(), {&kCompletionP5, &kCompletionP95}); }
  return columns;
}

std::vector<const Column*> SharedClusterExperiment::figures() {
  return {&kWorkload,    &kScheduler, &kPlacement, &kCompletionMean, &kWaitMean,          &kWaitP99,
          &kUtilisation, &kFairness,  &kGoodput,   &kEffectiveTime,  &kTrainingPlacement, &kTrainingInterference,
          &kStall,       &kHits};
}

std::vector<const Column*> SharedClusterExperiment::measurable() {
  return {&kCompletionMean, &kCompletionMedian, &kCompletionP99,  &kWaitMean,       &kWaitMedian,
          &kWaitP90,        &kWaitP99,          &kWaitMost,       &kSlowdownMean,   &kSlowdownP99,
          &kUtilisation,    &kQueueLength,      &kMakespan,       &kGpuHours,       &kFairness,
          &kQueued,         &kInterruptions,    &kGoodput,        &kEffectiveTime,  &kStall,
          &kHits,           &kAllocatedAt80,    &kAllocatedAt100, &kAllocatedAt120, &kAllocatedAt130};
}

std::optional<Reference> SharedClusterExperiment::reference() const {
  Reference reference{.max_error = workload_.max_error};
  for (const Column* column : measurable()) {
    const auto found = workload_.measured.find(column);
    if (found == workload_.measured.end() || !found->second) { continue; }
    reference.figures.push_back({column, to_double(*found->second)});
  }
  const auto is_known = [](const std::optional<WallTime>& wait) { return wait.has_value(); };
  reference.logged_waits = std::any_of(workload_.logged_waits.begin(), workload_.logged_waits.end(), is_known);
  if (reference.figures.empty() && !reference.logged_waits) { return std::nullopt; }
  return reference;
}

std::vector<std::pair<std::string, std::string>> SharedClusterExperiment::description(
    const Platform& /*platform*/) const {
  std::vector<std::pair<std::string, std::string>> lines{
      {"workload", fmt::format("{}, {} with placement {}", jobs_text(), variant(), workload_.who_places())}};
  if (!workload_.data || workload_.trainings.empty()) { return lines; }
  const bool shared = workload_.contention.links == ContentionRules::Links::shared;
  for (const Storage& storage : workload_.data->storages) {
    if (!storage.beside_ranks) { continue; }
    lines.emplace_back("storage",
                       fmt::format("'{}' is on the links of trainings, {}", storage.name,
                                   shared ? "which share them with its data" : "which have them to themselves"));
  }
  return lines;
}

std::string SharedClusterExperiment::jobs_text() const {
  const std::size_t count = workload_.jobs->size();
  const std::string jobs = count == 1 ? "1 job" : fmt::format("{} jobs", count);
  return workload_.log ? fmt::format("{} of {} ({})", jobs, workload_.log->file, workload_.log->format_name) : jobs;
}

std::string SharedClusterExperiment::participants() const {
  return fmt::format("{} nodes with {} GPUs", workload_.nodes->count(), workload_.nodes->gpus());
}

std::vector<std::string> SharedClusterExperiment::warnings(const Platform& platform) const {
  std::vector<std::string> all = workload_.notes;
  if (workload_.trainings.empty()) { return all; }
  const std::vector<std::string> more = workload_.trainings.front()->warnings(platform);
  all.insert(all.end(), more.begin(), more.end());
  return all;
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

std::vector<IdleKeys> SharedClusterExperiment::idle_keys(const Platform& platform) const {
  if (!workload_.trainings.empty()) { return workload_.trainings.front()->idle_keys(platform); }
  return {{{"/network"}, "jobs of given durations send nothing", "leave it out"}};
}

void SharedClusterExperiment::check_asked_sizes() const {
  throw UsageError("--sizes: jobs have no sizes; leave out --sizes");
}

}  // namespace athanor
