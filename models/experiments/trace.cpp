#include "models/experiments/trace.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/experiments/collective.hpp"
#include "models/experiments/network_columns.hpp"
#include "models/experiments/workload_columns.hpp"
#include "models/workload/work_of_workload.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

constexpr Column kFiles{.key = "trace", .role = ColumnRole::subject};  ///< files that [were replayed](traces.md)
constexpr Column kTraceFormat{"format"};                               ///< of the files
constexpr Column kReplayTime{"", "time", "(ms)", 12, Format::milliseconds};
constexpr Column kOperations{"operations"};  ///< how many

/// Keys that traces of some formats alone make use of.
struct KeysOfFormats {
  std::vector<TraceFormat> formats;
  IdleKeys keys;  ///< elsewhere
};

std::vector<KeysOfFormats> keys_of_formats() {
  return {
      {{TraceFormat::astra, TraceFormat::simai},
       {{"/trace/unit"}, "times of this format have a unit", "leave it out: it is of ASTRA-sim's and SimAI's text"}},
      {{TraceFormat::astra, TraceFormat::kineto},
       {{"/trace/ranks"},
        "this format says how many ranks there are",
        "leave it out: it is of ASTRA-sim's text and of a profile of one rank"}},
      {{TraceFormat::astra},
       {{"/trace/model_ranks"}, "this format says who shares a model", "leave it out: it is of ASTRA-sim's text"}},
      {{TraceFormat::chakra, TraceFormat::chakra_json},
       {{"/trace/groups", "/trace/roofline"}, "this format says it itself", "leave it out: it is of Chakra"}},
      {{TraceFormat::kineto}, {{"/trace/step"}, "there are no ProfilerSteps", "leave it out"}},
      {{TraceFormat::goal, TraceFormat::goal_binary},
       {{"/trace/eager"}, "this format says when messages are received", "leave it out: it is of GOAL"}},
  };
}

}  // namespace

WorkloadRun TraceExperiment::simulate(const Platform& platform, CollectiveTimer& timer,
                                      const WorkloadOptions& options) const {
  const ImportedTrace& trace = *config_.trace;
  WorkloadResult result = run_workload(trace.workload, estimate_all(trace.workload, timer), options);
  std::vector<std::string> notes = trace.notes;
  add_workload_notes(result, timer, platform, notes);
  const Time time = result.time;
  return {time, {}, std::move(result), std::move(notes)};
}

std::vector<Record> TraceExperiment::run(const Run& run) const {
  CollectiveTimer timer(pricing(run.platform, run.options));
  const WorkloadRun done = simulate(
      run.platform, timer, {.critical_path = false, .timeline = run.options.timeline, .stop = run.options.stop});
  const WorkloadShares shares = shares_of(done.result, done.time);
  Record record = run.head;
  record.put(kFiles, fmt::format("{}", joined(config_.files, " ")));
  record.put(kTraceFormat, variant());
  record.put(kRanks, ranks());
  record.put(kReplayTime, seconds(done.time));
  record.put(kStepTime, seconds(done.time));
  put_interval(run.platform, done, record);
  record.put(kExposedTime, shares.all_exposed() * seconds(done.time));
  record.put(kBreakdown, breakdown_json(shares, "waiting"));
  record.put(kComputingShare, shares.computing);
  record.put(kExposedShare, shares.all_exposed());
  record.put(kWaitingShare, shares.waiting);
  record.put(kOperations, done.result.operations);
  record.put(kNetwork, name(run.platform.network.level));
  record.put(kNotes, done.notes);
  const std::string exposed = exposed_text(shares);
  if (!exposed.empty()) { record.remarks.push_back("exposed: " + exposed); }
  remark_calls(done.result, record);
  put_skipped_packets(timer, record);
  record.remarks.insert(record.remarks.end(), done.notes.begin(), done.notes.end());
  record.effort = work_text(done.result);
  return {record};
}

WorkCount TraceExperiment::work(const Platform& platform, Bytes /*size*/, const RunOptions& options) const {
  return work_of(config_.trace->workload, pricing(platform, options));
}

void TraceExperiment::put_interval(const Platform& platform, const WorkloadRun& run, Record& record) const {
  put_interval_of_calls(run, platform, ranks(), record);
}

std::vector<const Column*> TraceExperiment::columns(bool /*seeds*/) const {
  return {&kReplayTime, &kInterval, &kComputingShare, &kExposedShare, &kWaitingShare};
}

std::vector<const Column*> TraceExperiment::figures() {
  return {&kFiles, &kStepTime, &kStepLow, &kStepHigh, &kExposedTime, &kKnown};
}

std::vector<std::pair<std::string, std::string>> TraceExperiment::description(const Platform& platform) const {
  return {{"trace", fmt::format("{} of {} ranks: {}", variant(), ranks(), joined(config_.files, " "))},
          {"profile", profile_text(*platform.profile)}};
}

std::vector<IdleKeys> TraceExperiment::idle_keys(const Platform& platform) const {
  std::vector<IdleKeys> idle = WorkloadExperiment::idle_keys(platform);
  for (const auto& [formats, keys] : keys_of_formats()) {
    const bool used = std::find(formats.begin(), formats.end(), config_.trace->format) != formats.end();
    if (!used) { idle.push_back(keys); }
  }
  return idle;
}

}  // namespace athanor
