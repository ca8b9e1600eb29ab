#include "models/experiments/jobs.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/execution/by_packets.hpp"
#include "models/execution/candidate.hpp"
#include "models/execution/work_of_collective.hpp"
#include "models/experiments/network_columns.hpp"
#include "models/experiments/table.hpp"
#include "sim/words.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

constexpr Column kJobs{"jobs"};                                    ///< a result for each
constexpr Column kJob{"job", "job", "", 5, Format::count};         ///< its number
constexpr Column kAloneTime{"alone_time_us", "alone", "(us)", 9};  ///< what it takes without the others
constexpr Column kSlowdown{"slowdown", "slowdown", "", 8,
                           Format::two_decimals};  ///< how many times as long it takes beside the others
constexpr Column kWaited{"waited_us"};             ///< for engines that others held
constexpr Column kNote{"", "note", "", 0, Format::text, 2};

std::string note_of(const JobResult& job, CollectiveKind kind, CollectiveKind common) {
  std::vector<std::string> parts;
  if (kind != common) { parts.emplace_back(name(kind)); }
  if (!job.roots.empty()) {
    parts.push_back(fmt::format("{} {}", job.roots.size() == 1 ? "root" : "roots", joined(job.roots, ", ")));
  }
  if (job.slots) { parts.push_back(aggregation_text(*job.slots)); }
  if (job.waited > Time::zero()) { parts.push_back(fmt::format("waited {:.2f} us", microseconds(job.waited))); }
  if (!job.alone.fell_back.empty()) { parts.push_back("fell back: " + job.alone.fell_back); }
  return fmt::format("{}", joined(parts, "; "));
}

Record record_of(const JobsSetup& setup, const Platform& platform, const JobRequest& request, const JobResult& job,
                 std::size_t number) {
  const Collective& collective = request.collective;
  const Bytes payload = request.element_size * collective.count.count();
  const bool lasts = job.time > Time::zero();
  Record record;
  record.put(kCount, count_per_argument(collective));
  record.put(kTypeName, nccl_name(request.type));
  record.put(kNote, note_of(job, collective.kind, setup.common.kind));
  record.put(kJob, number);
  record.put(kCollective, name(collective.kind));
  record.put(kBytes, payload.count());
  record.put(kAlgorithm, job.alone.algorithm);
  record.put(kProtocol, job.alone.protocol);
  record.put(kChannels, job.alone.channels);
  record.put(kTime, microseconds(job.time));
  put_interval(setup.alone(static_cast<std::uint32_t>(number)), platform, payload, job.time, job.alone.bound.time,
               record);
  record.put(kAlgorithmBandwidth, lasts ? algorithm_bandwidth(payload, job.time) : 0.0);
  record.put(kBusBandwidth, lasts ? bus_bandwidth(collective, payload, job.time) : 0.0);
  record.put(kAloneTime, microseconds(job.alone.time));
  record.put(kSlowdown, job.slowdown);
  record.put(kWaited, microseconds(job.waited));
  record.put(kRoots, job.roots);
  record.put(kFellBack, job.alone.fell_back);
  record.put(kBoundTime, microseconds(job.alone.bound.time));
  record.put(kExtrapolated, job.alone.extrapolated);
  record.put(kNotes, job.alone.notes);
  put_slots(job.slots, record);
  return record;
}

}  // namespace

std::vector<std::uint32_t> JobsSetup::endpoints(std::uint32_t job) const {
  std::vector<std::uint32_t> endpoints;
  for (std::uint32_t rank = 0; rank < common.ranks; ++rank) {
    switch (placement) {
      case JobPlacement::blocks: endpoints.push_back(job * common.ranks + rank); break;
      case JobPlacement::interleaved: endpoints.push_back(rank * jobs + job); break;
    }
  }
  return endpoints;
}

CollectiveSetup JobsSetup::alone(std::uint32_t job) const {
  CollectiveSetup result = common;
  if (!nccl.empty()) { result.nccl = nccl.at(job); }
  if (own.empty()) { return result; }
  const OwnOfJob& changes = own.at(job);
  result.kind = changes.kind.value_or(common.kind);
  if (changes.size) { result.sizes = {*changes.size}; }
  if (changes.algorithms) {
    result.algorithms = *changes.algorithms;
    if (result.nccl) { leave_to_nccl(result); }
  }
  return result;
}

JobsRequest JobsSetup::request(const Platform& platform, Bytes size, const SimulationOptions& options) const {
  const RunRequest one = common.request(platform, size, options);
  JobsRequest all{.cluster = one.cluster,
                  .profile = one.profile,
                  .jobs = {},
                  .options = options,
                  .seed = platform.seed,
                  .aggregation = one.aggregation};
  for (std::uint32_t job = 0; job < jobs; ++job) {
    const CollectiveSetup setup = alone(job);
    const bool has_size = !own.empty() && own.at(job).size;
    all.jobs.push_back({.endpoints = endpoints(job),
                        .collective = setup.collective(has_size ? setup.sizes.front() : size),
                        .element_size = one.element_size,
                        .type = one.type,
                        .reduction = one.reduction,
                        .algorithms = setup.algorithms,
                        .overrides = one.overrides,
                        .nccl = setup.nccl});
  }
  return all;
}

std::string JobsExperiment::label(Bytes size) const {
  return fmt::format("{} jobs, {}", setup_.jobs, collective_label(setup_.common.kind, size));
}

std::vector<Record> JobsExperiment::run(const Run& run) const {
  const Platform& platform = run.platform;
  const JobsRequest request = setup_.request(platform, run.size, simulation_options(platform, run.options));
  const JobsResult result = run_jobs(request);
  Record record = run.head;
  record.put(kCollective, name(setup_.common.kind));
  record.put(kRanks, setup_.common.ranks);
  record.put(kBytes, run.size.count());
  record.put(kType, name(setup_.common.type));
  record.put(kNetwork, name(platform.network.level));
  record.put(kTime, microseconds(result.time));
  std::vector<Record> parts;
  for (std::size_t job = 0; job < result.jobs.size(); ++job) {
    parts.push_back(record_of(setup_, platform, request.jobs[job], result.jobs[job], job));
  }
  record.put_parts(kJobs, std::move(parts));
  record.effort = effort_text(result.simulated);
  if (!run.options.ports) { return {record}; }
  const std::string label =
      fmt::format("{},{},{} jobs", csv_field(run.head.string(kCase)), run.size.count(), result.jobs.size());
  record.ports =
      port_lines(label, result.simulated.network.ports, *platform.cluster->fabric, result.simulated.network.observed);
  return {record};
}

WorkCount JobsExperiment::work(const Platform& platform, Bytes size, const RunOptions& options) const {
  return work_of(setup_.request(platform, size, simulation_options(platform, options)));
}

std::vector<const Column*> JobsExperiment::columns(bool /*seeds*/) const {
  std::vector<const Column*> columns{&kBytes, &kCount, &kTypeName, &kJob, &kTime};
  if (setup_.common.nccl || !setup_.nccl.empty()) { columns.push_back(&kInterval); }
  columns.insert(columns.end(), {&kAlgorithmBandwidth, &kBusBandwidth, &kAloneTime, &kSlowdown, &kAlgorithm, &kProtocol,
                                 &kChannels, &kNote});
  return columns;
}

std::vector<std::pair<std::string, std::string>> JobsExperiment::description(const Platform& platform) const {
  return {{"profile", profile_text(*platform.profile)}};
}

std::string JobsExperiment::participants() const {
  return fmt::format("{} jobs of {} ranks", setup_.jobs, setup_.common.ranks);
}

std::string JobsExperiment::footer(const std::vector<Record>& records) const {
  std::vector<std::string> notes;
  bool extrapolated = false;
  for (const Record& record : records) {
    for (const Record& job : record.lines()) {
      extrapolated = extrapolated || job.find(kExtrapolated)->boolean();
      for (std::string& note : job.strings(kNotes)) {
        if (!note.starts_with("fell back")) { notes.push_back(std::move(note)); }
      }
    }
  }
  return notes_text(notes, extrapolated);
}

std::vector<std::string> JobsExperiment::warnings(const Platform& platform) const {
  return nccl_warnings(*platform.profile, setup_.nccl);
}

std::string JobsExperiment::refusal(const Platform& platform, Ability ability) const {
  return common_.refusal(platform, ability);
}

bool JobsExperiment::may_use_switches(const Platform& platform) const {
  return !setup_.own.empty() || common_.may_use_switches(platform);
}

std::vector<IdleKeys> JobsExperiment::idle_keys(const Platform& platform) const { return common_.idle_keys(platform); }

void JobsExperiment::check_asked_sizes() const { check_asked_sizes_of(setup_.common); }

}  // namespace athanor
