#include "models/experiments/collective.hpp"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "models/execution/by_packets.hpp"
#include "models/execution/candidate.hpp"
#include "models/experiments/interval.hpp"
#include "models/experiments/mpi.hpp"
#include "models/experiments/network_columns.hpp"
#include "models/experiments/scenario/algorithm_choice.hpp"
#include "models/experiments/table.hpp"
#include "models/nccl/execution/runtime.hpp"
#include "models/software/profile.hpp"
#include "sim/format.hpp"
#include "sim/printable.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

constexpr Column kReductionName{"", "redop", "", 6, Format::word};
constexpr Column kRoot{.key = "root",
                       .head = "root",
                       .width = 5,
                       .format = Format::count,
                       .role = ColumnRole::choice};  ///< rank; -1: it has none
constexpr Column kEfficiency{.key = "efficiency",
                             .role = ColumnRole::rate,
                             .of = &kTime};  ///< bound_time_us / time_us: 1 is the hardware's limit
constexpr Column kBoundBy{"bound_by"};       ///< what the least time follows from: `endpoints`, a cut, `latency`
constexpr Column kLimitedBy{
    .key = "limited_by",
    .head = "limited by",
    .format = Format::text,
    .gap = 2,
    .shown = {.in_database = true,
              .in_reports = Shown::Report::remark}};  ///< what was busy longest: see [limited by](models.md#limited-by)
constexpr Column kPadded{"padded"};                   ///< priced at the next size that cuts into equal pieces
constexpr Column kTotalTime{"total_time_us"};         ///< with `compute`: both together
constexpr Column kHostTime{"host_time_us"};           ///< with `compute`: what the host spends on communication
constexpr Column kOverlap{.key = "overlap",
                          .role = ColumnRole::rate};  ///< with `compute`: share of the collective that is hidden
constexpr Column kTimeP5{.key = "time_us_p5",
                         .head = "time p5",
                         .unit = "(us)",
                         .width = 9,
                         .gap = 2,
                         .shown = {.in_reports = Shown::Report::figure,
                                   .report_head = "5th percentile (µs)",
                                   .axis = "Time, 5th percentile"}};  ///< of several seeds: 5th percentile
constexpr Column kTimeP95{.key = "time_us_p95",
                          .head = "time p95",
                          .unit = "(us)",
                          .width = 9,
                          .shown = {.in_reports = Shown::Report::figure,
                                    .report_head = "95th percentile (µs)",
                                    .axis = "Time, 95th percentile"}};  ///< of several seeds: 95th percentile
constexpr Column kBusBandwidthP5{.key = "busbw_gbps_p5",
                                 .head = "bus p5",
                                 .unit = "(GB/s)",
                                 .width = 7,
                                 .role = ColumnRole::rate};  ///< of several seeds: 5th percentile
constexpr Column kBusBandwidthP95{.key = "busbw_gbps_p95",
                                  .head = "bus p95",
                                  .unit = "(GB/s)",
                                  .width = 7,
                                  .role = ColumnRole::rate};  ///< of several seeds: 95th percentile

/// Whether every rank holds a part of the whole for each of the others.
bool partitioned(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_gather:
    case CollectiveKind::gather:
    case CollectiveKind::scatter:
    case CollectiveKind::all_to_all: return true;
    case CollectiveKind::all_reduce:
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
    case CollectiveKind::all_to_all_v:
    case CollectiveKind::barrier:
    case CollectiveKind::send_receive: return false;
  }
  return false;
}

void put_collective(const CollectiveSetup& setup, const Collective& collective, Record& record) {
  record.put(kCount, count_per_argument(collective));
  record.put(kTypeName, nccl_name(setup.type));
  record.put(kReductionName, reduces(setup.kind) ? nccl_name(setup.reduction) : "none");
}

void put_result(const CollectiveSetup& setup, const Collective& collective, const RunResult& run, Record& record) {
  const bool lasts = run.time > Time::zero();
  record.put(kCollective, name(setup.kind));
  record.put(kAlgorithm, run.algorithm);
  record.put(kProtocol, run.protocol);
  record.put(kChannels, run.channels);
  record.put(kRanks, setup.ranks);
  record.put(kBytes, run.size.count());
  record.put(kType, name(setup.type));
  record.put(kRoot, printed_root(collective));
  record.put(kTime, microseconds(run.time));
  record.put(kAlgorithmBandwidth, lasts ? algorithm_bandwidth(run.size, run.time) : 0.0);
  record.put(kBusBandwidth, lasts ? bus_bandwidth(collective, run.size, run.time) : 0.0);
  record.put(kBoundTime, microseconds(run.bound.time));
  record.put(kBoundBy, run.bound.limited_by);
  record.put(kEfficiency, lasts ? microseconds(run.bound.time) / microseconds(run.time) : 0.0);
  record.put(kLimitedBy, run.limited_by);
}

void put_calls(const CollectiveSetup& setup, const RunResult& run, Record& record) {
  if (!run.calls) { return; }
  record.put(kCalls, setup.calls);
  record.put(kLatency, microseconds(run.calls->latency));
  record.put(kPeriod, microseconds(run.calls->period));
}

/// The measurement of the same size, where there is one.
void put_measured(const CollectiveSetup& setup, const RunResult& run, Record& record) {
  if (!setup.verification) { return; }
  const Measurement::Row* measured = setup.verification->measurement.find(setup.measured_like(run.algorithm), run.size);
  if (measured == nullptr || *measured->time_us <= 0) { return; }
  record.put(kMeasuredTime, *measured->time_us);
  record.put(kError, microseconds(run.time) / *measured->time_us - 1);
}

void put_overlap(const Overlap& found, Record& record) {
  record.put(kTotalTime, microseconds(found.total));
  record.put(kHostTime, microseconds(found.communicating));
  record.put(kOverlap, found.share);
}

std::string overlap_note(const Overlap& found, Bytes size, Time compute) {
  return fmt::format("{} B beside a computation of {}: {} in all, {:.0f} % of it hidden", size.count(),
                     to_string(compute), to_string(found.total), found.share * 100);
}

void put_ports(const Run& run, const RunResult& result, Record& record) {
  if (!run.options.ports) { return; }
  const std::string label =
      fmt::format("{},{},{}", csv_field(record.string(kCase)), result.size.count(), csv_field(result.algorithm));
  record.ports = port_lines(label, result.simulated.network.ports, *run.platform.cluster->fabric,
                            result.simulated.network.observed);
}

/// Those of the run, and how the library calls what ran.
std::vector<std::string> notes_of(const CollectiveSetup& setup, const Run& run, const RunResult& result) {
  std::vector<std::string> notes = result.notes;
  if (result.simulated.settled.any()) {
    notes.push_back(settled_text(result.simulated.settled, run.platform.network.skip_error));
  }
  if (std::string text = leeway_text(run.platform.network); !text.empty()) { notes.push_back(std::move(text)); }
  if (!setup.mpi) { return notes; }
  const std::string note = mpi_note(*setup.mpi, setup.request(run.platform, run.size, {}));
  if (!note.empty()) { notes.push_back(note); }
  return notes;
}

Record record_of(const CollectiveSetup& setup, const Run& run, const RunResult& result) {
  Record record = run.head;
  const Collective collective = setup.collective(run.size);
  put_collective(setup, collective, record);
  put_result(setup, collective, result, record);
  put_interval(setup, run.platform, run.size, result.time, result.bound.time, record);
  put_calls(setup, result, record);
  record.put(kNetwork, name(run.platform.network.level));
  record.put(kExtrapolated, result.extrapolated);
  record.put(kPadded, result.padded);
  std::optional<Overlap> beside;
  std::vector<std::string> notes = notes_of(setup, run, result);
  if (setup.compute) {
    beside = overlap(result.time, *setup.compute, setup.offload);
    notes.push_back(overlap_note(*beside, result.size, *setup.compute));
  }
  record.put(kNotes, notes);
  put_measured(setup, result, record);
  if (beside) { put_overlap(*beside, record); }
  if (!result.roots.empty()) { record.put(kRoots, result.roots); }
  if (!result.fell_back.empty()) { record.put(kFellBack, result.fell_back); }
  put_slots(result.slots, record);
  put_packets(result.simulated.network.packets, false, record);
  put_ports(run, result, record);
  record.effort = effort_text(result.simulated);
  return record;
}

}  // namespace

namespace {

/// What prices the collective: inside one node perhaps another one than the scenario names.
const Profile& pricing(const CollectiveSetup& setup, const Platform& platform) {
  return setup.nccl ? platform.profile->on_nodes(setup.nccl->communicator().nodes) : *platform.profile;
}

}  // namespace

void put_interval(const CollectiveSetup& setup, const Platform& platform, Bytes size, Time time, Time bound,
                  Record& record) {
  const Profile& profile = pricing(setup, platform);
  const std::optional<PredictionError> error = profile.error_of(setup.kind, setup.ranks, size, *platform.cluster);
  record.put(kProfile, profile.name);
  if (!error) { return; }
  const double simulated = microseconds(time);
  // Nobody measures what the hardware does not allow.
  const double low = std::max(simulated * error->low, std::min(simulated, microseconds(bound)));
  record.put(kTimeLow, low);
  record.put(kTimeHigh, simulated * error->high);
  record.put(kKnown, name(error->knowledge));
  record.put(kShared, error->shared);
  record.put(kInterval, interval_text(simulated > 0 ? low / simulated : error->low, error->high));
}

std::string effort_text(const Simulated& simulated) {
  return fmt::format("{} of {} lanes, {} primitives, {} loops and {} steps multiplied, {} events", simulated.lanes,
                     simulated.all_lanes, simulated.primitives, simulated.skipped_loops, simulated.skipped_steps,
                     simulated.events);
}

Bytes size_of(const Record& record) { return Bytes{static_cast<std::int64_t>(record.number(kBytes))}; }

std::int64_t count_per_argument(const Collective& collective) {
  const std::int64_t elements = collective.count.count();
  return partitioned(collective.kind) ? ceil_div(elements, collective.ranks) : elements;
}

std::int64_t printed_root(const Collective& collective) {
  return has_root(collective.kind) ? std::int64_t{collective.root} : -1;
}

std::string collective_label(CollectiveKind kind, Bytes size) {
  return size > Bytes::zero() ? fmt::format("{} of {}", name(kind), to_string(size)) : std::string(name(kind));
}

std::string profile_text(const Profile& profile) {
  return profile.name + (profile.description.empty() ? "" : ": ") + profile.description;
}

std::string notes_text(const std::vector<std::string>& notes, bool extrapolated) {
  std::string lines;
  std::set<std::string> said;
  for (const std::string& note : notes) {
    if (said.insert(note).second) { lines += "# " + printable(note) + "\n"; }
  }
  if (extrapolated) { lines += "# * extrapolated: outside of what the profile was fitted on\n"; }
  return lines;
}

std::string CollectiveExperiment::label(Bytes size) const { return collective_label(setup_.kind, size); }

std::vector<Record> CollectiveExperiment::run(const Run& run) const {
  std::vector<Record> records;
  for (const RunRequest& request :
       setup_.requests(run.platform, run.size, simulation_options(run.platform, run.options))) {
    records.push_back(record_of(setup_, run, run_collective(request)));
  }
  return records;
}

namespace {

Record row_of(std::vector<Record> repetitions) {
  Repetitions all(std::move(repetitions), kTime);
  Record row = all.median();
  row.put(kSeeds, all.count());
  row.put(kTimeP5, all.percentile(5).number(kTime));
  row.put(kTimeP95, all.percentile(95).number(kTime));
  row.put(kBusBandwidthP5, all.percentile(95).number(kBusBandwidth));
  row.put(kBusBandwidthP95, all.percentile(5).number(kBusBandwidth));
  return row;
}

}  // namespace

const RepetitionSummary* CollectiveExperiment::repetitions() const {
  static constexpr RepetitionSummary kSummary{"time, algbw and busbw are those of the median", &row_of};
  return &kSummary;
}

std::vector<const Column*> CollectiveExperiment::columns(bool seeds) const {
  std::vector<const Column*> columns{&kBytes, &kCount, &kTypeName,           &kReductionName,
                                     &kRoot,  &kTime,  &kAlgorithmBandwidth, &kBusBandwidth};
  if (setup_.nccl) { columns.insert(columns.end() - 2, &kInterval); }
  if (seeds) { columns.insert(columns.end(), {&kTimeP5, &kTimeP95, &kBusBandwidthP5, &kBusBandwidthP95}); }
  if (setup_.calls > 1) { columns.insert(columns.end(), {&kLatency, &kPeriod}); }
  columns.push_back(&kBoundTime);
  if (setup_.verification) { columns.insert(columns.end(), {&kMeasuredTime, &kError}); }
  columns.insert(columns.end(), {&kAlgorithm, &kProtocol, &kChannels, &kLimitedBy});
  return columns;
}

std::vector<const Column*> CollectiveExperiment::figures() {
  return {&kCollective,   &kAlgorithm,      &kProtocol,
          &kChannels,     &kRanks,          &kBytes,
          &kTime,         &kTimeLow,        &kTimeHigh,
          &kTimeP5,       &kTimeP95,        &kAlgorithmBandwidth,
          &kBusBandwidth, &kBusBandwidthP5, &kBusBandwidthP95,
          &kBoundTime,    &kEfficiency,     &kOverlap,
          &kLimitedBy,    &kMeasuredTime,   &kType,
          &kRoot,         &kProfile,        &kKnown};
}

std::vector<const Column*> CollectiveExperiment::csv_columns() const {
  return {&kScenario,     &kCase,      &kCollective,   &kAlgorithm, &kProtocol, &kChannels,
          &kRanks,        &kBytes,     &kType,         &kRoot,      &kTime,     &kAlgorithmBandwidth,
          &kBusBandwidth, &kBoundTime, &kBoundBy,      &kLimitedBy, &kNetwork,  &kExtrapolated,
          &kPadded,       &kNotes,     &kMeasuredTime, &kError,     &kCalls,    &kLatency,
          &kPeriod,       &kTimeLow,   &kTimeHigh,     &kKnown};
}

std::vector<std::pair<std::string, std::string>> CollectiveExperiment::description(const Platform& platform) const {
  const Profile& profile = pricing(setup_, platform);
  std::vector<std::pair<std::string, std::string>> lines;
  if (setup_.mpi) { lines.emplace_back("mpi", mpi_text(*setup_.mpi)); }
  std::string software = profile_text(profile);
  if (&profile != platform.profile.get()) {
    software += fmt::format(" (of what stays within a node, by \"within_node\" of {})", platform.profile->name);
  }
  if (!setup_.verification) {
    lines.emplace_back("profile", software);
    return lines;
  }
  const Measurement& measurement = setup_.verification->measurement;
  if (!profile.machine.empty() && !measurement.machine.empty() && profile.machine != measurement.machine) {
    software += fmt::format(" (of ANOTHER MACHINE than was measured: {})", profile.machine);
  }
  lines.emplace_back("profile", software);
  lines.emplace_back("measurement", fmt::format("{}: {}, algorithm {}; {}", measurement.id, measurement.hardware,
                                                measurement.algorithm, measurement.source));
  return lines;
}

std::string CollectiveExperiment::footer(const std::vector<Record>& records) const {
  std::vector<std::string> notes;
  bool extrapolated = false;
  double sum = 0;
  for (const Record& record : records) {
    for (std::string& note : record.strings(kNotes)) { notes.push_back(std::move(note)); }
    extrapolated = extrapolated || record.find(kExtrapolated)->boolean();
    sum += record.number(kBusBandwidth);
  }
  const std::string lines = notes_text(notes, extrapolated);
  if (records.empty()) { return lines; }
  return lines + fmt::format("# Avg bus bandwidth : {:.2f}\n", sum / static_cast<double>(records.size()));
}

std::vector<std::string> CollectiveExperiment::warnings(const Platform& platform) const {
  return nccl_warnings(*platform.profile, {setup_.nccl});
}

std::string CollectiveExperiment::refusal(const Platform& platform, Ability ability) const {
  switch (ability) {
    case Ability::ports: return "";
    case Ability::timeline: {
      const auto over_slots = [&](Bytes size) { return uses_aggregators(setup_.request(platform, size, {})); };
      return std::any_of(setup_.sizes.begin(), setup_.sizes.end(), over_slots)
                 ? "--trace draws primitives, and packets that switches add up one by one have none; use --ports"
                 : "";
    }
    case Ability::flows:
      return "--flows writes the messages of traffic, and this is none; leave it out, or use --trace";
    case Ability::per_job: return "--per-job lists the jobs of a workload, and this is none; leave it out";
    case Ability::memory: return "--strict asks whether a training fits into memory, and this is none; leave it out";
  }
  return "";
}

bool CollectiveExperiment::may_use_switches(const Platform& platform) const {
  return platform.profile->nccl || std::any_of(setup_.algorithms.begin(), setup_.algorithms.end(),
                                               [](const Algorithm* algorithm) { return aggregates(*algorithm); });
}

std::vector<IdleKeys> CollectiveExperiment::idle_keys(const Platform& platform) const {
  std::vector<IdleKeys> idle = idle_keys_of(setup_);
  if (platform.profile->nccl) { idle.push_back(kFallbackKeys); }
  return idle;
}

void CollectiveExperiment::check_asked_sizes() const { check_asked_sizes_of(setup_); }

}  // namespace athanor
