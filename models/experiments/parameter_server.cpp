#include "models/experiments/parameter_server.hpp"

#include <fmt/core.h>

#include "models/execution/simulate.hpp"
#include "models/experiments/network_columns.hpp"
#include "models/experiments/traffic.hpp"
#include "models/training/parameter_server/work_of_servers.hpp"
#include "sim/format.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

constexpr Column kUpdate{.key = "update",
                         .role = ColumnRole::condition};  ///< [how it is done](scenario.md#parameter_server)
constexpr Column kWorkers{"workers"};                     ///< how many
constexpr Column kServers{"servers"};                     ///< how many
constexpr Column kCopies{"copies"};                       ///< of each parameter, on different servers
constexpr Column kParameters{.key = "bytes",
                             .head = "parameters",
                             .unit = "(B)",
                             .width = 12,
                             .format = Format::count,
                             .role = ColumnRole::condition,
                             .shown = {.in_sweeps = true, .in_reports = Shown::Report::figure}};  ///< of all parameters
constexpr Column kTrainingTime{
    .key = "time_us",
    .head = "time",
    .unit = "(us)",
    .width = 11,
    .role = ColumnRole::time,
    .shown = {.in_sweeps = true, .in_reports = Shown::Report::figure, .axis = "Time"}};  ///< of all iterations
constexpr Column kUpdates{.key = "updates_per_s",
                          .head = "updates",
                          .unit = "(1/s)",
                          .width = 10,
                          .role = ColumnRole::rate,
                          .shown = {.in_sweeps = true,
                                    .beside_time = true,
                                    .in_reports = Shown::Report::figure,
                                    .axis = "Updates per second"}};  ///< changes of the parameters
constexpr Column kGradientRate{.key = "gradients_per_s",
                               .head = "gradients",
                               .unit = "(1/s)",
                               .width = 11,
                               .role = ColumnRole::rate};  ///< gradients that were used
constexpr Column kIterationMean{
    .key = "iteration_us_mean",
    .head = "iteration",
    .unit = "(us)",
    .width = 11,
    .shown = {.in_sweeps = true, .in_reports = Shown::Report::figure, .axis = "Iteration"}};  ///< of a worker
constexpr Column kIterationP95{"iteration_us_p95", "p95", "(us)", 11};                        ///< of a worker
constexpr Column kWaiting{
    .key = "waiting",
    .head = "waiting",
    .unit = "(%)",
    .width = 8,
    .format = Format::percent,
    .shown = {.in_sweeps = true,
              .in_reports = Shown::Report::figure,
              .axis = "Waiting (%)"}};  ///< share of an iteration that a worker waits for servers and the network
constexpr Column kStalenessMean{
    .key = "staleness_mean",
    .head = "staleness",
    .unit = "(mean)",
    .width = 9,
    .format = Format::two_decimals,
    .shown = {.in_sweeps = true, .in_reports = Shown::Report::figure, .axis = "Staleness"}};  ///< of gradients
constexpr Column kStaleness{"staleness"};  ///< how many parts found 0, 1, 2, ... such changes
constexpr Column kGradients{"gradients"};  ///< that were made
constexpr Column kDropped{"dropped", "dropped", "", 8, Format::count};  ///< gradients that came too late
constexpr Column kServerBusy{"server_busy", "server", "(%)", 7,
                             Format::percent};  ///< of the busiest server, the share of the time
constexpr Column kOutage{.key = "outage_us",
                         .head = "outage",
                         .unit = "(us)",
                         .width = 10,
                         .shown = {.in_sweeps = true,
                                   .in_reports = Shown::Report::figure,
                                   .axis = "Outage"}};  ///< with
                                                        ///< a `failure`: from it to the next update of its shard
constexpr Column kResent{"resent", "resent", "", 7, Format::count};  ///< with a `failure`: gradients of the shard that
                                                                     ///< workers sent again
constexpr Column kUpdatesP5{.key = "updates_per_s_p5",
                            .head = "updates p5",
                            .unit = "(1/s)",
                            .width = 10,
                            .role = ColumnRole::rate};  ///< of several seeds: 5th percentile
constexpr Column kUpdatesP95{.key = "updates_per_s_p95",
                             .head = "p95",
                             .unit = "(1/s)",
                             .width = 10,
                             .role = ColumnRole::rate};  ///< of several seeds: 95th percentile

/// How many updates there were, on average, between the parameters of a gradient that was used and it.
double mean_staleness(const ParameterServerResult& result) {
  double parts = 0;
  double updates = 0;
  for (std::size_t i = 0; i < result.staleness.size(); ++i) {
    parts += static_cast<double>(result.staleness[i]);
    updates += static_cast<double>(i) * static_cast<double>(result.staleness[i]);
  }
  return parts > 0 ? updates / parts : 0;
}

void put_setup(const ParameterServerSetup& setup, Record& record) {
  record.put(kUpdate, name(setup.update));
  record.put(kWorkers, setup.workers.size());
  record.put(kServers, setup.shards.size());
  record.put(kCopies, setup.shards.front().size());
  record.put(kParameters, setup.parameters.count());
}

void put_result(const ParameterServerResult& result, Record& record) {
  record.put(kTrainingTime, microseconds(result.time));
  record.put(kUpdates, result.updates_per_second());
  record.put(kGradientRate, result.gradients_per_second());
  record.put(kIterationMean, microseconds(result.mean_iteration()));
  record.put(kIterationP95, microseconds(result.p95_iteration()));
  record.put(kWaiting, result.waiting);
  record.put(kStalenessMean, mean_staleness(result));
  record.put(kStaleness, result.staleness);
  record.put(kGradients, result.gradients);
  record.put(kDropped, result.dropped);
  record.put(kServerBusy, result.server_busy);
  if (!result.outage) { return; }
  record.put(kOutage, microseconds(*result.outage));
  record.put(kResent, result.resent);
}

}  // namespace

std::string ParameterServerExperiment::label(Bytes size) const {
  return fmt::format("{} parameters on servers", to_string(size));
}

std::vector<Record> ParameterServerExperiment::run(const Run& run) const {
  const Platform& platform = run.platform;
  ParameterServerSetup setup = config_.setup;
  setup.parameters = run.size;
  const ParameterServerResult result =
      simulate_parameter_server(setup, *platform.cluster, platform.seed, simulation_options(platform, run.options));
  Record record = run.head;
  put_setup(setup, record);
  put_result(result, record);
  record.put(kNetwork, name(platform.network.level));
  record.put(kSeed, platform.seed);
  put_busiest_link(result.network.loads, *platform.cluster->fabric, result.network.observed, record);
  put_packets(result.network.packets, true, record);
  if (setup.failure && !result.outage) {
    record.remarks.emplace_back(
        "the failure comes after the last step, or nobody updates the shard any more: no outage");
  }
  if (const std::string text = leeway_text(platform.network); !text.empty()) { record.remarks.push_back(text); }
  record.effort = fmt::format("{} events", result.events);
  return {record};
}

WorkCount ParameterServerExperiment::work(const Platform& platform, Bytes size, const RunOptions& options) const {
  ParameterServerSetup setup = config_.setup;
  setup.parameters = size;
  return work_of(setup, *platform.cluster, simulation_options(platform, options));
}

namespace {

Record row_of(std::vector<Record> repetitions) {
  Repetitions all(std::move(repetitions), kUpdates);
  Record row = all.median();
  row.put(kSeeds, all.count());
  row.put(kUpdatesP5, all.percentile(5).number(kUpdates));
  row.put(kUpdatesP95, all.percentile(95).number(kUpdates));
  return row;
}

}  // namespace

const RepetitionSummary* ParameterServerExperiment::repetitions() const {
  static constexpr RepetitionSummary kSummary{"each row is the run with the median rate of updates", &row_of};
  return &kSummary;
}

std::vector<const Column*> ParameterServerExperiment::columns(bool seeds) const {
  std::vector<const Column*> columns{&kParameters, &kUpdates,       &kGradientRate, &kIterationMean, &kIterationP95,
                                     &kWaiting,    &kStalenessMean, &kDropped,      &kServerBusy};
  if (config_.setup.failure) { columns.insert(columns.end(), {&kOutage, &kResent}); }
  if (seeds) { columns.insert(columns.end(), {&kUpdatesP5, &kUpdatesP95}); }
  return columns;
}

std::vector<const Column*> ParameterServerExperiment::figures() {
  return {&kUpdate,        &kParameters,   &kTrainingTime, &kUpdates,    &kIterationMean, &kWaiting,
          &kStalenessMean, &kGradientRate, &kUpdatesP5,    &kUpdatesP95, &kOutage};
}

std::vector<std::pair<std::string, std::string>> ParameterServerExperiment::description(
    const Platform& /*platform*/) const {
  return {{"training", describe(config_.setup)}};
}

std::string ParameterServerExperiment::participants() const { return fmt::format("{} workers", ranks()); }

std::string ParameterServerExperiment::refusal(const Platform& /*platform*/, Ability ability) const {
  switch (ability) {
    case Ability::timeline:
      return "--trace draws primitives of collectives, and parameter servers have none; use --json";
    case Ability::flows: return "--flows writes the messages of traffic, and this is none; leave it out";
    case Ability::ports:
      return "--ports counts what ports carry in collectives and traffic, and this is neither; leave it out";
    case Ability::per_job: return "--per-job lists the jobs of a workload, and this is none; leave it out";
    case Ability::memory: return "--strict asks whether a training fits into memory, and this is none; leave it out";
  }
  return "";
}

std::vector<IdleKeys> ParameterServerExperiment::idle_keys(const Platform& /*platform*/) const {
  if (config_.setup.shards.front().size() > 1) { return {}; }
  return {{{"/parameter_server/replication"},
           "there is one copy of each shard",
           R"(write "copies": 2 or more, or leave it out)"}};
}

void ParameterServerExperiment::check_asked_sizes() const { refuse_empty_messages(config_.sizes); }

}  // namespace athanor
