#include "models/experiments/circuits.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/circuits/message_rounds.hpp"
#include "models/execution/run.hpp"
#include "models/execution/simulate.hpp"
#include "models/execution/work_of_collective.hpp"
#include "models/experiments/network_columns.hpp"
#include "models/experiments/traffic.hpp"
#include "models/software/profile.hpp"
#include "sim/error.hpp"
#include "sim/format.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

constexpr Column kCarried{
    .key = "collective", .role = ColumnRole::subject, .shown = {.in_reports = Shown::Report::word}};  ///< or the demand
constexpr Column kCircuitRanks{"ranks"};  ///< how many take part
constexpr Column kChange{"change"};       ///< when circuits change: [how](scenario.md#circuits)
constexpr Column kCarriedSize{.key = "bytes",
                              .head = "size",
                              .unit = "(B)",
                              .width = 12,
                              .format = Format::size,
                              .role = ColumnRole::condition,
                              .shown = {.in_sweeps = true,
                                        .in_reports = Shown::Report::figure,
                                        .report_head = "size"}};  ///< of a rank, as collectives count them
constexpr Column kCarriedBy{.key = "algorithm",
                            .head = "algorithm",
                            .width = 22,
                            .format = Format::word,
                            .role = ColumnRole::choice,
                            .shown = {.in_reports = Shown::Report::word}};  ///< of the collective
constexpr Column kCircuitTime{
    .key = "time_us",
    .head = "time",
    .unit = "(us)",
    .width = 11,
    .role = ColumnRole::time,
    .shown = {.in_sweeps = true, .in_reports = Shown::Report::figure, .axis = "Time"}};  ///< of one of many in a row
constexpr Column kCircuitBandwidth{.key = "algbw_gbps",
                                   .head = "algbw",
                                   .unit = "(GB/s)",
                                   .width = 8,
                                   .role = ColumnRole::rate,
                                   .of = &kCircuitTime,
                                   .shown = {.in_reports = Shown::Report::figure}};  ///< bytes / time
constexpr Column kChanges{"changes", "changes", "", 9, Format::count};               ///< how often circuits change
constexpr Column kChangingShare{
    .key = "changing",
    .head = "changing",
    .unit = "(%)",
    .width = 9,
    .format = Format::percent,
    .shown = {.in_sweeps = true,
              .in_reports = Shown::Report::figure,
              .axis = "Changing (%)"}};  ///< share of the time in which no circuit carries data
constexpr Column kRounds{"rounds", "rounds", "", 7, Format::count};  ///< that follow each other; of rotors: slots
constexpr Column kDirect{.key = "direct",
                         .head = "direct",
                         .unit = "(%)",
                         .width = 7,
                         .format = Format::percent};  ///< of rotors: share of
                                                      ///< bytes that goes straight
constexpr Column kPacketTime{
    .key = "packet_time_us",
    .head = "packets",
    .unit = "(us)",
    .width = 11,
    .role = ColumnRole::time,
    .shown = {.in_reports = Shown::Report::figure, .axis = "Time over packets"}};  ///< the same on the cluster's fabric
constexpr Column kPacketAlgorithm{"packet_algorithm"};                             ///< that is fastest there

constexpr Bytes kElement{4};

std::string_view name(CircuitChange change) {
  switch (change) {
    case CircuitChange::never: return "never";
    case CircuitChange::rounds: return "rounds";
    case CircuitChange::best: return "best";
  }
  return "";
}

std::string_view name(CircuitsConfig::Demand demand) {
  return demand == CircuitsConfig::Demand::all_to_all ? "all_to_all" : "permutation";
}

CircuitDemand demand_of(const CircuitsConfig& config, Bytes size) {
  const std::uint32_t ranks = config.ranks;
  CircuitDemand demand(ranks, std::vector<std::int64_t>(ranks));
  for (std::uint32_t from = 0; from < ranks; ++from) {
    if (config.demand == CircuitsConfig::Demand::permutation) {
      demand[from][(from + ranks / 2) % ranks] = size.count();
      continue;
    }
    std::int64_t left = size.count();
    const std::int64_t part = (left + ranks - 1) / ranks;
    for (std::uint32_t to = 0; to < ranks; ++to) {
      demand[from][to] = std::min(part, left);
      left -= demand[from][to];
    }
  }
  return demand;
}

double share(Time part, Time whole) { return whole > Time::zero() ? seconds(part) / seconds(whole) : 0; }

void put_time(Bytes size, Time time, Record& record) {
  record.put(kCircuitTime, microseconds(time));
  if (time > Time::zero()) { record.put(kCircuitBandwidth, static_cast<double>(size.count()) * 1e-9 / seconds(time)); }
}

void put_packets(const RunResult& packets, const Platform& platform, Record& record) {
  record.put(kPacketTime, microseconds(packets.time));
  record.put(kPacketAlgorithm, packets.algorithm);
  record.put(kNetwork, athanor::name(platform.network.level));
  record.put(kSeed, platform.seed);
  record.remarks.push_back(
      fmt::format("over the cluster's packets {} takes {:.2f} us", packets.algorithm, microseconds(packets.time)));
}

/// An algorithm's run, or why there is none.
struct Tried {
  const Algorithm* algorithm = nullptr;
  std::optional<CircuitRun> run = {};
  std::string reason = {};
};

Tried tried(const Algorithm& algorithm, const Collective& collective, const CircuitsConfig& config) {
  Tried result{.algorithm = &algorithm};
  if (algorithm.engine != Engine::none) {
    result.reason = "it needs engines, and circuit switches do not look into messages";
    return result;
  }
  if (const auto reason = algorithm.refuses(collective, {})) {
    result.reason = *reason;
    return result;
  }
  try {
    result.run =
        run_over_circuits(message_rounds(*algorithm.make(collective, {})), kElement, config.circuits, config.change);
  } catch (const SimulationError& error) { result.reason = error.what(); }
  return result;
}

}  // namespace

std::string CircuitsExperiment::variant() const {
  return std::string(config_.rotor ? name(config_.demand) : name(config_.collective));
}

std::string CircuitsExperiment::label(Bytes size) const {
  return fmt::format("{} of {} over circuits", variant(), to_string(size));
}

std::vector<Record> CircuitsExperiment::run(const Run& run) const {
  return config_.rotor ? std::vector<Record>{demanded(run)} : collectives(run);
}

std::vector<Record> CircuitsExperiment::collectives(const Run& run) const {
  const Collective collective{config_.collective, config_.ranks, Elements{run.size / kElement}};
  std::vector<Tried> all;
  for (const Algorithm* algorithm : config_.algorithms) {
    if (run.options.stop.stop_requested()) { throw Interrupted(); }
    all.push_back(tried(*algorithm, collective, config_));
  }
  std::string reasons;
  for (const Tried& each : all) {
    if (!each.run) { reasons += fmt::format("\n  {}: {}", each.algorithm->name, each.reason); }
  }
  std::erase_if(all, [](const Tried& each) { return !each.run; });
  if (all.empty()) {
    throw SimulationError("no-algorithm", fmt::format("no algorithm can run {} over these circuits:{}",
                                                      athanor::name(config_.collective), reasons));
  }
  const auto faster = [](const Tried& a, const Tried& b) { return a.run->time < b.run->time; };
  std::stable_sort(all.begin(), all.end(), faster);
  if (!config_.each) { all.resize(1); }
  const RunResult packets = over_packets(run, config_.collective);
  std::vector<Record> rows;
  for (const Tried& each : all) {
    Record record = run.head;
    record.put(kCarried, athanor::name(config_.collective));
    record.put(kCircuitRanks, config_.ranks);
    record.put(kCarriedSize, run.size.count());
    record.put(kCarriedBy, each.algorithm->name);
    record.put(kChange, name(config_.change));
    put_time(run.size, each.run->time, record);
    record.put(kChanges, each.run->changes);
    record.put(kChangingShare, share(each.run->changing, each.run->time));
    record.put(kRounds, each.run->rounds);
    put_packets(packets, run.platform, record);
    rows.push_back(std::move(record));
  }
  return rows;
}

Record CircuitsExperiment::demanded(const Run& run) const {
  const RotorRun done = run_rotor(demand_of(config_, run.size), config_.circuits, *config_.rotor, run.options.stop);
  Record record = run.head;
  record.put(kCarried, name(config_.demand));
  record.put(kCircuitRanks, config_.ranks);
  record.put(kCarriedSize, run.size.count());
  record.put(kChange, "rotor");
  put_time(run.size, done.time, record);
  record.put(kChanges, done.slots);
  record.put(kChangingShare, share(config_.circuits.delay, config_.rotor->slot));
  record.put(kRounds, done.slots);
  record.put(kDirect, done.direct);
  if (config_.demand == CircuitsConfig::Demand::all_to_all) {
    put_packets(over_packets(run, CollectiveKind::all_to_all), run.platform, record);
  }
  return record;
}

RunResult CircuitsExperiment::over_packets(const Run& run, CollectiveKind kind) const {
  std::vector<const Algorithm*> algorithms;
  for (const Algorithm& each : catalog()) {
    if (each.kind == kind && each.engine == Engine::none) { algorithms.push_back(&each); }
  }
  return run_collective({.cluster = *run.platform.cluster,
                         .profile = *run.platform.profile,
                         .collective = {kind, config_.ranks, Elements{run.size / kElement}},
                         .element_size = kElement,
                         .algorithms = algorithms,
                         .overrides = {},
                         .options = simulation_options(run.platform, run.options),
                         .seed = run.platform.seed});
}

/// Messages that are put into rounds, for each algorithm; of rotors, pairs for each slot of a cycle.
WorkCount CircuitsExperiment::work(const Platform& /*platform*/, Bytes /*size*/, const RunOptions& /*options*/) const {
  WorkCount work;
  const auto ranks = static_cast<double>(config_.ranks);
  const double each = config_.rotor ? 1 : static_cast<double>(config_.algorithms.size());
  work[Work::operation] = 2 * ranks * ranks * each;
  work.bytes = 64 * ranks * ranks;
  return work;
}

std::vector<const Column*> CircuitsExperiment::columns(bool /*seeds*/) const {
  std::vector<const Column*> columns{&kCarriedSize, &kCircuitTime,   &kCircuitBandwidth,
                                     &kChanges,     &kChangingShare, &kRounds};
  columns.push_back(config_.rotor ? &kDirect : &kCarriedBy);
  columns.push_back(&kPacketTime);
  return columns;
}

std::vector<const Column*> CircuitsExperiment::figures() {
  return {&kCarried, &kCarriedSize, &kCarriedBy, &kCircuitTime, &kCircuitBandwidth, &kChangingShare, &kPacketTime};
}

std::vector<std::pair<std::string, std::string>> CircuitsExperiment::description(const Platform& /*platform*/) const {
  const CircuitSwitch& circuits = config_.circuits;
  const std::string when = config_.rotor ? fmt::format("changed every {}{}", to_string(config_.rotor->slot),
                                                       config_.rotor->indirect ? ", with detours" : "")
                           : config_.change == CircuitChange::never  ? "never changed"
                           : config_.change == CircuitChange::rounds ? "changed for each round"
                                                                     : "changed where that is faster";
  return {{"circuits", fmt::format("{} of {} ranks, {} ports of {} each; {}, which takes {}", variant(), config_.ranks,
                                   circuits.ports, to_string(circuits.rate), when, to_string(circuits.delay))}};
}

std::string CircuitsExperiment::refusal(const Platform& /*platform*/, Ability ability) const {
  switch (ability) {
    case Ability::timeline: return "--trace draws primitives of collectives, and circuits have none; use --json";
    case Ability::flows: return "--flows writes the messages of traffic, and this is none; leave it out";
    case Ability::ports:
      return "--ports counts what ports carry in collectives and traffic, and this is neither; leave it out";
    case Ability::per_job: return "--per-job lists the jobs of a workload, and this is none; leave it out";
    case Ability::memory: return "--strict asks whether a training fits into memory, and this is none; leave it out";
  }
  return "";
}

std::vector<IdleKeys> CircuitsExperiment::idle_keys(const Platform& /*platform*/) const {
  if (!config_.rotor) { return {}; }
  return {{{"/circuits/collective", "/circuits/algorithm"},
           "rotor switches carry a demand, whatever is to be done with it",
           R"(leave it out; what is carried is "demand")"}};
}

void CircuitsExperiment::check_asked_sizes() const { refuse_empty_messages(config_.sizes); }

}  // namespace athanor
