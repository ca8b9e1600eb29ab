#include "models/experiments/recommender.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/core.h>

#include "models/experiments/collective.hpp"
#include "models/experiments/network_columns.hpp"
#include "models/experiments/training.hpp"
#include "models/experiments/workload_columns.hpp"
#include "models/workload/work_of_workload.hpp"
#include "sim/format.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

constexpr Column kRecommenderModel{
    .key = "model", .role = ColumnRole::subject, .shown = {.in_reports = Shown::Report::word}};  ///< by name
constexpr Column kRecommenderGpu{"gpu"};                                                         ///< preset of the GPUs
constexpr Column kRecommenderGpus{.key = "gpus",
                                  .role = ColumnRole::choice,
                                  .shown = {.in_reports = Shown::Report::word, .report_head = "GPUs"}};  ///< how many
constexpr Column kBatch{.key = "global_batch", .role = ColumnRole::choice};  ///< samples of all GPUs together
constexpr Column kTables{"tables"};                                          ///< how many
constexpr Column kTableParameters{"table_parameters"};                       ///< elements of all tables
constexpr Column kShardings{"shardings"};  ///< `{"table_wise": 20, ...}`: tables by [sharding](embeddings.md#shardings)
constexpr Column kDenseParameters{"dense_parameters"};  ///< trained numbers outside of tables
constexpr Column kSampleRate{.key = "samples_per_s",
                             .head = "samples",
                             .unit = "(1/s)",
                             .width = 12,
                             .format = Format::count,
                             .role = ColumnRole::rate,
                             .of = &kStepTime,
                             .shown = {.in_sweeps = true,
                                       .in_database = true,
                                       .beside_time = true,
                                       .in_reports = Shown::Report::figure,
                                       .report_head = "samples/s",
                                       .decimals = 0,
                                       .axis = "Samples per second"}};  ///< of all GPUs
constexpr Column kLookup{.key = "lookup_s",
                         .head = "look-up",
                         .unit = "(ms)",
                         .width = 9,
                         .format = Format::milliseconds};  ///< in tables, of the busiest GPU
constexpr Column kRowUpdate{.key = "row_update_s",
                            .head = "update",
                            .unit = "(ms)",
                            .width = 9,
                            .format = Format::milliseconds};  ///< of rows, of the busiest GPU
constexpr Column kRowFetch{"row_fetch_s"};                    ///< rows that come into caches, of the busiest GPU
constexpr Column kHitRate{"cache_hit_rate"};  ///< share of look-ups in tables with a cache that it answers
constexpr Column kLookupImbalance{.key = "lookup_imbalance",
                                  .head = "uneven",
                                  .width = 7,
                                  .format = Format::two_decimals,
                                  .shown = {.in_sweeps = true}};  ///< bytes that the busiest GPU reads, over the mean
constexpr Column kIndexBytes{"index_bytes"};    ///< that a GPU sends or receives at most to exchange indices
constexpr Column kPooledBytes{"pooled_bytes"};  ///< the same of pooled vectors, of shards by table and by column
constexpr Column kTableMemory{.key = "memory_gb",
                              .head = "memory",
                              .unit = "(GB)",
                              .width = 7,
                              .format = Format::one_decimal,
                              .shown = {.in_sweeps = true, .in_reports = Shown::Report::figure}};  ///< of the fullest
                                                                                                   ///< GPU
constexpr Column kHostMemory{"host_memory_gb"};  ///< of tables in the host's memory, of the fullest GPU's
constexpr double kGigabyte = 1e-9;

Time longest(const std::vector<EmbeddingTimes>& times, Time EmbeddingTimes::*member) {
  Time most;
  for (const EmbeddingTimes& each : times) { most = std::max(most, each.*member); }
  return most;
}

double table_parameters(const RecommenderModel& model) {
  double sum = 0;
  for (const EmbeddingTable& table : model.tables) { sum += static_cast<double>(table.rows) * table.width; }
  return sum;
}

/// Each table once.
JsonValue shardings_of(const RecommenderSetup& setup) {
  std::map<TableSharding, std::set<std::uint32_t>> tables;
  for (const TableShard& shard : setup.shards) { tables[shard.sharding].insert(shard.table); }
  JsonValue all = JsonValue::object();
  for (const auto& [sharding, of] : tables) { all[std::string(name(sharding))] = of.size(); }
  return all;
}

/// By look-ups; none: no table has a cache.
std::optional<double> hit_rate_of(const RecommenderModel& model) {
  double lookups = 0;
  double hits = 0;
  for (const EmbeddingTable& table : model.tables) {
    if (!table.kept || *table.kept == 0) { continue; }
    const auto kept = static_cast<std::uint64_t>(static_cast<double>(table.rows) * *table.kept);
    lookups += table.lookups;
    hits += table.lookups * hit_rate(*table.access, table.policy, kept);
  }
  return lookups > 0 ? std::optional(hits / lookups) : std::nullopt;
}

void put_setup(const RecommenderSetup& setup, Record& record) {
  record.put(kRecommenderModel, setup.model.name);
  record.put(kRecommenderGpu, setup.gpu.name);
  record.put(kRecommenderGpus, setup.grid.ranks);
  record.put(kBatch, setup.grid.batch);
  record.put(kTables, setup.model.tables.size());
  record.put(kTableParameters, table_parameters(setup.model));
  record.put(kDenseParameters, bottom_parameters(setup.model) + top_parameters(setup.model));
  record.put(kShardings, shardings_of(setup));
}

void put_tables(const Recommender& recommender, Record& record) {
  const RecommenderSetup& setup = recommender.setup;
  const std::vector<EmbeddingTimes> times = embedding_times(setup);
  record.put(kLookup, seconds(longest(times, &EmbeddingTimes::forward)));
  record.put(kRowUpdate, seconds(longest(times, &EmbeddingTimes::backward)));
  record.put(kLookupImbalance, recommender.plan.imbalance());
  if (const auto rate = hit_rate_of(setup.model)) {
    record.put(kHitRate, *rate);
    record.put(kRowFetch, seconds(longest(times, &EmbeddingTimes::fetch)));
    record.remarks.push_back(fmt::format("caches: {:.2f} % of look-ups find their row", *rate * 100));
  }
  const EmbeddingTraffic traffic(setup.model.tables, setup.shards, setup.grid, setup.numbers);
  if (const auto indices = traffic.indices()) { record.put(kIndexBytes, indices->exchanged().count()); }
  if (const auto pooled = traffic.pooled()) { record.put(kPooledBytes, pooled->exchanged().count()); }
  record.put(kTableMemory, recommender.memory * kGigabyte);
  const auto& host = recommender.plan.host_memory;
  const double most = *std::max_element(host.begin(), host.end());
  if (most > 0) { record.put(kHostMemory, most * kGigabyte); }
}

void put_shares(const WorkloadRun& run, Record& record) {
  const WorkloadShares shares = shares_of(run.result, run.time);
  record.put(kBreakdown, breakdown_json(shares, "waiting"));
  record.put(kExposedTime, shares.all_exposed() * seconds(run.time));
  record.put(kComputingShare, shares.computing);
  record.put(kExposedShare, shares.all_exposed());
  record.put(kWaitingShare, shares.waiting);
  const std::string exposed = exposed_text(shares);
  if (!exposed.empty()) { record.remarks.push_back("exposed: " + exposed); }
  const std::string computing = computing_text(run.result, run.time);
  if (!computing.empty()) { record.remarks.push_back("computing: " + computing); }
}

}  // namespace

WorkloadRun RecommenderExperiment::simulate(const Platform& platform, CollectiveTimer& timer,
                                            const WorkloadOptions& options) const {
  const RecommenderStep step = step_of(recommender_->setup);
  const StepEstimates estimates(step, pricing(platform, {.stop = options.stop}), timer);
  WorkloadOptions own = options;
  own.interference = recommender_->setup.compute.interference;
  WorkloadResult result = run_workload(step.workload, estimates.all(), own);
  std::vector<std::string> notes = recommender_->notes;
  add_workload_notes(result, timer, platform, notes);
  return {result.time, Time::zero(), std::move(result), std::move(notes)};
}

void RecommenderExperiment::put_interval(const Platform& /*platform*/, const WorkloadRun& /*run*/,
                                         Record& /*record*/) const {}

std::vector<Record> RecommenderExperiment::run(const Run& run) const {
  const RecommenderSetup& setup = recommender_->setup;
  CollectiveTimer timer(pricing(run.platform, run.options));
  const WorkloadRun done = simulate(
      run.platform, timer, {.critical_path = false, .timeline = run.options.timeline, .stop = run.options.stop});
  Record record = run.head;
  put_setup(setup, record);
  record.put(kStepTime, seconds(done.time));
  record.put(kSampleRate, static_cast<double>(setup.grid.batch) / seconds(done.time));
  put_tables(*recommender_, record);
  put_shares(done, record);
  record.put(kNetwork, name(run.platform.network.level));
  if (recommender_->measured) {
    record.put(kMeasuredStep, seconds(*recommender_->measured));
    record.put(kStepError, seconds(done.time) / seconds(*recommender_->measured) - 1);
  }
  record.put(kNotes, done.notes);
  remark_calls(done.result, record);
  put_skipped_packets(timer, record);
  record.remarks.insert(record.remarks.end(), done.notes.begin(), done.notes.end());
  record.effort = work_text(done.result);
  return {record};
}

WorkCount RecommenderExperiment::work(const Platform& platform, Bytes /*size*/, const RunOptions& options) const {
  return work_of(workload(), pricing(platform, options));
}

std::vector<const Column*> RecommenderExperiment::columns(bool /*seeds*/) const {
  return {&kStepTime,       &kSampleRate,   &kLookup,       &kRowUpdate,    &kLookupImbalance, &kTableMemory,
          &kComputingShare, &kExposedShare, &kWaitingShare, &kMeasuredStep, &kStepError};
}

std::vector<const Column*> RecommenderExperiment::figures() {
  return {&kRecommenderModel, &kRecommenderGpus, &kBatch,       &kStepTime,    &kSampleRate,
          &kLookupImbalance,  &kTableMemory,     &kExposedTime, &kMeasuredStep};
}

std::optional<Reference> RecommenderExperiment::reference() const {
  if (!recommender_->measured) { return std::nullopt; }
  return Reference{.max_error = recommender_->max_error};
}

std::vector<std::pair<std::string, std::string>> RecommenderExperiment::description(const Platform& platform) const {
  const RecommenderSetup& setup = recommender_->setup;
  std::string computing = setup.compute.name;
  if (setup.compute.pooled) { computing += ": " + setup.compute.description; }
  return {
      {"recommender",
       fmt::format("{} on {} {}: {} tables of {:.4g} billion elements, {:.4g} million numbers beside them; batch {}",
                   setup.model.name, setup.grid.ranks, setup.gpu.name, setup.model.tables.size(),
                   table_parameters(setup.model) * kGigabyte,
                   (bottom_parameters(setup.model) + top_parameters(setup.model)) * 1e-6, setup.grid.batch)},
      {"profile", fmt::format("collectives {}; computing {}", profile_text(*platform.profile), computing)}};
}

std::string RecommenderExperiment::participants() const { return fmt::format("{} GPUs", ranks()); }

std::vector<IdleKeys> RecommenderExperiment::idle_keys(const Platform& platform) const {
  std::vector<IdleKeys> idle = WorkloadExperiment::idle_keys(platform);
  idle.push_back(
      {{"/recommender/compute/attention", "/recommender/compute/attention_by_shape", "/recommender/compute/launch",
        "/recommender/compute/pass_overhead", "/recommender/compute/straggler_growth",
        "/recommender/compute/gemm/waves", "/recommender/compute/gemm/fp8", "/recommender/compute/gemm/fp4"},
       "it is of training transformers and layers",
       "leave it out; what each kernel takes besides is \"overhead\""});
  const RecommenderSetup& setup = recommender_->setup;
  if (setup.input_bytes == 0 && setup.pipeline == BatchPipeline::sparse_dist && setup.grid.ranks == 1) {
    idle.push_back({{"/recommender/pipeline"}, "one GPU with its inputs exchanges nothing", "leave it out"});
  }
  const bool cached = std::any_of(setup.model.tables.begin(), setup.model.tables.end(),
                                  [](const EmbeddingTable& each) { return each.kept && *each.kept > 0; });
  if (!cached && setup.pipeline == BatchPipeline::prefetch) {
    idle.push_back({{"/recommender/pipeline"},
                    "no table has a cache into which rows come before",
                    R"(write "pipeline": "sparse_dist", or give tables a cache ("host"))"});
  }
  return idle;
}

}  // namespace athanor
