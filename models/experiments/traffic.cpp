#include "models/experiments/traffic.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/execution/simulate.hpp"
#include "models/experiments/network_columns.hpp"
#include "models/experiments/table.hpp"
#include "models/traffic/simulate_traffic.hpp"
#include "models/traffic/work_of_traffic.hpp"
#include "sim/error.hpp"
#include "sim/format.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

constexpr Column kTraffic{
    .key = "traffic", .role = ColumnRole::subject, .shown = {.in_reports = Shown::Report::word}};  ///< the pattern
constexpr Column kEndpoints{"endpoints"};  ///< how many take part
constexpr Column kMessageSize{.key = "bytes",
                              .head = "size",
                              .unit = "(B)",
                              .width = 12,
                              .format = Format::size,
                              .role = ColumnRole::condition,
                              .shown = {.in_sweeps = true,
                                        .in_reports = Shown::Report::figure,
                                        .report_head = "size"}};           ///< of a message; 0: of their own
constexpr Column kMessages{"messages", "messages", "", 9, Format::count};  ///< how many
constexpr Column kTotalBytes{"total_bytes"};                               ///< of all messages
constexpr Column kLastDelivery{
    .key = "time_us",
    .head = "time",
    .unit = "(us)",
    .width = 10,
    .role = ColumnRole::time,
    .shown = {.in_sweeps = true, .in_reports = Shown::Report::figure, .axis = "Time"}};  ///< to the last delivery
constexpr Column kGoodput{.key = "goodput_gbps",
                          .head = "goodput",
                          .unit = "(GB/s)",
                          .width = 9,
                          .role = ColumnRole::rate,
                          .shown = {.in_sweeps = true,
                                    .beside_time = true,
                                    .in_reports = Shown::Report::figure,
                                    .axis = "Goodput (GB/s)"}};  ///< of all together
constexpr Column kThroughputRatio{
    .key = "throughput_ratio",
    .head = "ratio",
    .unit = "(%)",
    .width = 6,
    .format = Format::percent,
    .role = ColumnRole::rate,
    .shown = {.in_sweeps = true,
              .in_reports = Shown::Report::figure,
              .axis = "Throughput ratio (%)"}};  ///< mean share that messages keep of the rate that they have alone
constexpr Column kThroughputRatioLeast{.key = "throughput_ratio_least",
                                       .role = ColumnRole::rate};         ///< the least such share
constexpr Column kFairness{.key = "fairness", .role = ColumnRole::rate};  ///< Jain's index of these shares
constexpr Column kCompletionMean{"completion_us_mean", "mean", "(us)",
                                 10};  ///< from a message's start to its last byte
constexpr Column kCompletionMedian{"completion_us_median", "median", "(us)", 10};  ///< median
constexpr Column kCompletionP99{.key = "completion_us_p99",
                                .head = "p99",
                                .unit = "(us)",
                                .width = 10,
                                .shown = {.in_sweeps = true,
                                          .in_reports = Shown::Report::figure,
                                          .axis = "Completion, 99th percentile"}};  ///< 99th percentile
constexpr Column kCompletionMax{"completion_us_max", "max", "(us)", 10};            ///< the longest
constexpr Column kSlowdownMean{"slowdown_mean", "slowdown", "(mean)",
                               8};                            ///< completion over the time that the message takes alone
constexpr Column kSlowdownP99{"slowdown_p99", "p99", "", 8};  ///< 99th percentile
constexpr Column kThroughputRatioP5{.key = "throughput_ratio_p5",
                                    .head = "ratio p5",
                                    .unit = "(%)",
                                    .width = 8,
                                    .format = Format::percent,
                                    .role = ColumnRole::rate};  ///< of several seeds: 5th percentile
constexpr Column kThroughputRatioP95{.key = "throughput_ratio_p95",
                                     .head = "ratio p95",
                                     .unit = "(%)",
                                     .width = 9,
                                     .format = Format::percent,
                                     .role = ColumnRole::rate};  ///< of several seeds: 95th percentile
constexpr Column kMeanP5{"completion_us_mean_p5"};               ///< of several seeds: 5th percentile
constexpr Column kMeanP95{"completion_us_mean_p95"};             ///< of several seeds: 95th percentile

void put_completion(const CompletionTimes& times, Record& record) {
  record.put(kCompletionMean, microseconds(times.mean));
  record.put(kCompletionMedian, microseconds(times.median));
  record.put(kCompletionP99, microseconds(times.p99));
  record.put(kCompletionMax, microseconds(times.longest));
  record.put(kSlowdownMean, times.mean_slowdown);
  record.put(kSlowdownP99, times.p99_slowdown);
}

void put_summary(const TrafficSummary& summary, Record& record) {
  constexpr double kGiga = 1e-9;
  record.put(kMessages, summary.messages);
  record.put(kTotalBytes, summary.bytes.count());
  record.put(kLastDelivery, microseconds(summary.time));
  record.put(kGoodput, summary.goodput * kGiga);
  record.put(kThroughputRatio, summary.throughput_ratio);
  record.put(kThroughputRatioLeast, summary.least_throughput_ratio);
  record.put(kFairness, summary.fairness);
}

std::string flow_lines(const TrafficMatrix& matrix, const SimulatedTraffic& simulated, const Run& run) {
  const Cluster& cluster = *run.platform.cluster;
  const auto name = [&](std::uint32_t endpoint) {
    return csv_field(cluster.fabric->name(cluster.endpoints[endpoint]));
  };
  const std::string head =
      fmt::format("{},{},{},", csv_field(run.head.string(kCase)), run.size.count(), run.platform.seed);
  std::string lines;
  for (const MessageTimes& message : simulated.messages) {
    const TrafficMatrix::Connection& connection = matrix.connections[message.connection];
    const Time took = message.end - message.start;
    lines += head + fmt::format("{},{},{},{},{:.6f},{:.6f},{:.6f},{:.6f},{:.6g}\n", message.connection,
                                name(connection.from), name(connection.to), message.size.count(),
                                microseconds(message.start), microseconds(message.end), microseconds(took),
                                microseconds(message.alone), seconds(took) / seconds(message.alone));
  }
  return lines;
}

}  // namespace

std::string flow_names() {
  return "case,bytes_asked,seed,connection,from,to,bytes,start_us,end_us,completion_us,alone_us,slowdown\n";
}

void refuse_empty_messages(std::span<const Bytes> sizes) {
  if (std::find(sizes.begin(), sizes.end(), Bytes::zero()) == sizes.end()) { return; }
  throw UsageError("--sizes: a message of 0 B is none");
}

std::string TrafficExperiment::label(Bytes size) const {
  return size > Bytes::zero() ? fmt::format("{} of {}", variant(), to_string(size)) : variant();
}

std::vector<Record> TrafficExperiment::run(const Run& run) const {
  const Platform& platform = run.platform;
  const Fabric& fabric = *platform.cluster->fabric;
  const TrafficMatrix matrix = make_traffic(traffic_, run.size, platform.seed);
  const SimulatedTraffic simulated =
      simulate_traffic(matrix, *platform.cluster, platform.seed, simulation_options(platform, run.options));
  const TrafficSummary summary = summary_of(simulated);
  Record record = run.head;
  record.put(kTraffic, variant());
  record.put(kEndpoints, ranks());
  record.put(kMessageSize, run.size.count());
  put_summary(summary, record);
  record.put(kNetwork, name(platform.network.level));
  record.put(kSeed, platform.seed);
  if (summary.completion) { put_completion(*summary.completion, record); }
  put_busiest_link(simulated.network.loads, fabric, simulated.network.observed, record);
  put_packets(simulated.network.packets, true, record);
  if (const std::string text = leeway_text(platform.network); !text.empty()) { record.remarks.push_back(text); }
  const std::string label = fmt::format("{},{},{}", csv_field(run.head.string(kCase)), run.size.count(), variant());
  record.ports = port_lines(label, simulated.network.ports, fabric, simulated.network.observed);
  if (run.options.flows) { record.flows = flow_lines(matrix, simulated, run); }
  record.effort = fmt::format("{} messages, {} events", summary.messages, simulated.events);
  return {record};
}

WorkCount TrafficExperiment::work(const Platform& platform, Bytes size, const RunOptions& options) const {
  return work_of(make_traffic(traffic_, size, platform.seed), *platform.cluster, platform.seed,
                 simulation_options(platform, options));
}

namespace {

Record row_of(std::vector<Record> repetitions) {
  Repetitions by_share(repetitions, kThroughputRatio);
  Record row = by_share.median();
  row.put(kSeeds, by_share.count());
  row.put(kThroughputRatioP5, by_share.percentile(5).number(kThroughputRatio));
  row.put(kThroughputRatioP95, by_share.percentile(95).number(kThroughputRatio));
  if (!row.has(kCompletionMean)) { return row; }
  const Repetitions by_mean(std::move(repetitions), kCompletionMean);
  row.put(kMeanP5, by_mean.percentile(5).number(kCompletionMean));
  row.put(kMeanP95, by_mean.percentile(95).number(kCompletionMean));
  return row;
}

}  // namespace

const RepetitionSummary* TrafficExperiment::repetitions() const {
  static constexpr RepetitionSummary kSummary{"each row is the run of the median throughput ratio", &row_of};
  return &kSummary;
}

std::vector<const Column*> TrafficExperiment::columns(bool seeds) const {
  std::vector<const Column*> columns{&kMessageSize,   &kMessages,       &kCompletionMean, &kCompletionMedian,
                                     &kCompletionP99, &kCompletionMax,  &kSlowdownMean,   &kSlowdownP99,
                                     &kGoodput,       &kThroughputRatio};
  if (seeds) { columns.insert(columns.end(), {&kThroughputRatioP5, &kThroughputRatioP95}); }
  return columns;
}

std::vector<const Column*> TrafficExperiment::figures() {
  return {&kTraffic,         &kMessageSize,          &kLastDelivery, &kCompletionP99,     &kGoodput,
          &kThroughputRatio, &kThroughputRatioLeast, &kFairness,     &kThroughputRatioP5, &kThroughputRatioP95};
}

std::vector<std::pair<std::string, std::string>> TrafficExperiment::description(const Platform& /*platform*/) const {
  return {{"traffic", variant()}};
}

std::string TrafficExperiment::participants() const { return fmt::format("{} endpoints", ranks()); }

std::string TrafficExperiment::refusal(const Platform& /*platform*/, Ability ability) const {
  switch (ability) {
    case Ability::flows:
    case Ability::ports: return "";
    case Ability::timeline: return "--trace draws primitives of collectives, and traffic has none; use --flows";
    case Ability::per_job: return "--per-job lists the jobs of a workload, and this is none; leave it out";
    case Ability::memory: return "--strict asks whether a training fits into memory, and this is none; leave it out";
  }
  return "";
}

std::vector<IdleKeys> TrafficExperiment::idle_keys(const Platform& /*platform*/) const { return {}; }

void TrafficExperiment::check_asked_sizes() const {
  if (traffic_.sizes.front() == Bytes::zero()) {
    throw UsageError("--sizes: the messages of this traffic have sizes of their own; leave out --sizes");
  }
  refuse_empty_messages(traffic_.sizes);
}

}  // namespace athanor
