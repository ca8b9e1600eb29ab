#include "models/experiments/expert_exchange.hpp"

#include <numeric>

#include <fmt/core.h>

#include "models/execution/simulate.hpp"
#include "models/experiments/collective.hpp"
#include "models/experiments/network_columns.hpp"
#include "models/experts/exchange.hpp"
#include "models/traffic/work_of_traffic.hpp"
#include "sim/error.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

constexpr Column kExchangeKind{
    .key = "exchange", .role = ColumnRole::subject, .shown = {.in_reports = Shown::Report::word}};  ///< its kind
constexpr Column kExpertRanks{"expert_ranks"};  ///< that share the experts
constexpr Column kExpertsAll{"experts"};        ///< of the layer
constexpr Column kChosen{"chosen"};             ///< experts that a token goes to
constexpr Column kTokensOfRank{"rank_tokens"};  ///< of each rank
constexpr Column kHidden{"hidden"};             ///< elements of a token
constexpr Column kWay{.key = "way",
                      .head = "way",
                      .width = 9,
                      .format = Format::word,
                      .role = ColumnRole::condition,
                      .shown = {.in_reports = Shown::Report::word}};  ///< `dispatch` or `combine`
constexpr Column kExchangeTime{
    .key = "time_us",
    .head = "time",
    .unit = "(us)",
    .width = 10,
    .role = ColumnRole::time,
    .shown = {
        .in_sweeps = true, .in_reports = Shown::Report::figure, .axis = "Time"}};  ///< until the last rank has all
constexpr Column kCountedBytes{.key = "counted_bytes",
                               .head = "counted",
                               .unit = "(B)",
                               .width = 12,
                               .format = Format::count};  ///< of a rank, as DeepEP's tests count
constexpr Column kExchangeBandwidth{.key = "bandwidth_gbps",
                                    .head = "bandwidth",
                                    .unit = "(GB/s)",
                                    .width = 9,
                                    .role = ColumnRole::rate,
                                    .of = &kExchangeTime,
                                    .shown = {.in_sweeps = true,
                                              .beside_time = true,
                                              .in_reports = Shown::Report::figure,
                                              .axis = "Bandwidth (GB/s)"}};  ///< counted bytes over time
constexpr Column kNodesOfToken{.key = "nodes_per_token",
                               .head = "nodes",
                               .unit = "per token",
                               .width = 9,
                               .format = Format::two_decimals};  ///< different ones, on average
constexpr Column kRanksOfToken{.key = "ranks_per_token",
                               .head = "ranks",
                               .unit = "per token",
                               .width = 9,
                               .format = Format::two_decimals};  ///< different ones, on average
constexpr Column kBusiestRank{.key = "busiest_rank",
                              .head = "busiest",
                              .unit = "rank",
                              .width = 8,
                              .format = Format::two_decimals};  ///< choices that it gets, over those of the average
constexpr Column kDroppedChoices{.key = "dropped_choices",
                                 .head = "dropped",
                                 .unit = "(%)",
                                 .width = 8,
                                 .format = Format::percent};  ///< share of the choices, for want of capacity
constexpr double kMicrosecond = 1e-6;

std::vector<std::uint32_t> first_endpoints(std::uint32_t count) {
  std::vector<std::uint32_t> all(count);
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

bool is_measured(const MeasuredExchange& of) { return of.time.has_value() || of.bandwidth.has_value(); }

/// In seconds; none: nobody measured it.
std::optional<double> measured_seconds(const MeasuredExchange& measured, double bytes) {
  if (measured.time) { return seconds(*measured.time); }
  if (measured.bandwidth) { return bytes / static_cast<double>(measured.bandwidth->count()); }
  return std::nullopt;
}

}  // namespace

ExpertExchangeExperiment::ExpertExchangeExperiment(ExpertExchangeConfig config)
    : config_(std::move(config)), routing_(routing_of(config_.settings, config_.layer)) {}

std::string ExpertExchangeExperiment::label(Bytes /*size*/) const {
  return fmt::format("{} of {} tokens", variant(), config_.tokens);
}

Record ExpertExchangeExperiment::record_of(const Run& run, bool combines) const {
  const Platform& platform = run.platform;
  const ExpertLayer& layer = config_.layer;
  const TokenExchange exchange = exchange_of(config_.settings, layer, routing_, combines);
  const std::vector<std::uint32_t> endpoints = first_endpoints(layer.ranks);
  const ExchangeGroup group = group_of(endpoints, *platform.cluster);
  const TokenSpread spread = spread_of(routing_, group.ranks, group.ranks_per_node);
  const ExchangeTimes times = simulate_exchange(exchange, {endpoints}, *platform.cluster, platform.seed,
                                                simulation_options(platform, run.options));
  const double bytes = counted_bytes(exchange, group);
  Record record = run.head;
  record.put(kExchangeKind, name(exchange.kind));
  record.put(kExpertRanks, layer.ranks);
  record.put(kExpertsAll, layer.experts);
  record.put(kChosen, layer.chosen);
  record.put(kTokensOfRank, config_.tokens);
  record.put(kHidden, layer.hidden);
  record.put(kWay, combines ? "combine" : "dispatch");
  record.put(kExchangeTime, microseconds(times.time));
  record.put(kCountedBytes, bytes);
  record.put(kExchangeBandwidth, bytes / seconds(times.time) * 1e-9);
  record.put(kNodesOfToken, spread.nodes_of_token());
  record.put(kRanksOfToken, spread.ranks_of_token());
  const ExpertLoad load = load_of(routing_, layer.ranks);
  record.put(kBusiestRank, load.busiest);
  record.put(kDroppedChoices, 1 - load.kept);
  if (const auto measured = measured_seconds(combines ? config_.combine : config_.dispatch, bytes)) {
    record.put(kMeasuredTime, *measured / kMicrosecond);
    record.put(kError, seconds(times.time) / *measured - 1);
  }
  record.put(kNetwork, name(platform.network.level));
  record.put(kSeed, platform.seed);
  put_busiest_link(times.use.loads, *platform.cluster->fabric, times.use.observed, record);
  put_packets(times.use.packets, true, record);
  if (times.copies > times.network) {
    record.remarks.push_back("multiprocessors copy tokens longer than links carry them");
  }
  return record;
}

std::vector<Record> ExpertExchangeExperiment::run(const Run& run) const {
  return {record_of(run, false), record_of(run, true)};
}

WorkCount ExpertExchangeExperiment::work(const Platform& platform, Bytes /*size*/, const RunOptions& options) const {
  const TokenExchange exchange = exchange_of(config_.settings, config_.layer, routing_, false);
  const TrafficMatrix matrix = matrix_of(exchange, {first_endpoints(config_.layer.ranks)}, *platform.cluster);
  WorkCount work;
  if (matrix.messages.empty()) { return work; }
  work = work_of(matrix, *platform.cluster, platform.seed, simulation_options(platform, options));
  work *= 2;
  return work;
}

std::vector<const Column*> ExpertExchangeExperiment::columns(bool /*seeds*/) const {
  std::vector<const Column*> columns{&kWay,          &kExchangeTime, &kCountedBytes, &kExchangeBandwidth,
                                     &kNodesOfToken, &kRanksOfToken, &kBusiestRank,  &kDroppedChoices};
  if (is_measured(config_.dispatch) || is_measured(config_.combine)) {
    columns.insert(columns.end(), {&kMeasuredTime, &kError});
  }
  return columns;
}

std::vector<const Column*> ExpertExchangeExperiment::figures() {
  return {&kExchangeKind, &kWay,         &kExchangeTime,   &kExchangeBandwidth, &kNodesOfToken,
          &kRanksOfToken, &kBusiestRank, &kDroppedChoices, &kMeasuredTime,      &kError};
}

std::vector<std::pair<std::string, std::string>> ExpertExchangeExperiment::description(
    const Platform& /*platform*/) const {
  const ExpertSettings& settings = config_.settings;
  const std::string limit = settings.most_nodes > 0 ? fmt::format(" on at most {} nodes", settings.most_nodes) : "";
  const std::string spare = settings.redundant > 0 ? fmt::format(" and {} replicas", settings.redundant) : "";
  return {{"experts", fmt::format("{} of {} experts{}{} on {} ranks, {} tokens of {} elements each, {} dispatch",
                                  config_.layer.chosen, config_.layer.experts, spare, limit, config_.layer.ranks,
                                  config_.tokens, config_.layer.hidden, name(settings.dispatch))}};
}

std::string ExpertExchangeExperiment::participants() const { return fmt::format("{} ranks", ranks()); }

std::string ExpertExchangeExperiment::refusal(const Platform& /*platform*/, Ability ability) const {
  switch (ability) {
    case Ability::timeline:
      return "--trace draws primitives of collectives, and an exchange of experts has none; use --json";
    case Ability::flows: return "--flows writes the messages of traffic, and this is none; leave it out";
    case Ability::ports:
      return "--ports counts what ports carry in collectives and traffic, and this is neither; leave it out";
    case Ability::per_job: return "--per-job lists the jobs of a workload, and this is none; leave it out";
    case Ability::memory: return "--strict asks whether a training fits into memory, and this is none; leave it out";
  }
  return "";
}

std::vector<IdleKeys> ExpertExchangeExperiment::idle_keys(const Platform& platform) const {
  const ExchangeGroup group = group_of(first_endpoints(config_.layer.ranks), *platform.cluster);
  if (config_.settings.most_nodes < group.ranks / group.ranks_per_node) { return {}; }
  return {{{"/expert_exchange/most_nodes"},
           "there are no more nodes than that",
           "leave it out, or make it smaller than the nodes that the ranks are on"}};
}

void ExpertExchangeExperiment::check_asked_sizes() const {
  throw UsageError("--sizes: an exchange of experts has tokens; change \"tokens\" with --set");
}

}  // namespace athanor
