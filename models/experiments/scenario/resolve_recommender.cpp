#include "models/experiments/scenario/resolve_recommender.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/experiments/recommender.hpp"
#include "models/experiments/scenario/access_file.hpp"
#include "models/experiments/scenario/compute_profile_section.hpp"
#include "models/experiments/scenario/experiment_reader.hpp"
#include "models/experiments/scenario/training_gpus.hpp"
#include "sim/error.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

constexpr double kGigabyte = 1e-9;
constexpr double kStateOfDense =
    16;  ///< bytes of a trained number beside tables: weight, gradient, and room for Adam's
constexpr std::size_t kMostTables = 1'000'000;

class RecommenderResolution {
 public:
  RecommenderResolution(ReadingContext& context, const ClusterConfig& described, const Cluster& cluster,
                        const RecommenderConfig& config)
      : context_(context), described_(described), cluster_(cluster), config_(config) {}

  std::shared_ptr<const Recommender> resolve() {
    auto recommender = std::make_shared<Recommender>();
    RecommenderSetup& setup = recommender->setup;
    setup.model = config_.model;
    setup.numbers = config_.numbers;
    setup.precision = config_.precision;
    setup.fused = config_.fused;
    setup.pipeline = config_.pipeline;
    setup.stream_share = to_double(config_.stream_share);
    recommender->max_error = config_.max_error;
    const bool fits = fit_grid(setup) && add_tables(setup) && fit_model(setup) && find_gpu(setup) &&
                      find_compute(setup) && fit_host(setup) && plan(*recommender);
    if (!fits) { return nullptr; }
    take_measured(*recommender);
    note(*recommender);
    return recommender;
  }

 private:
  using Places = std::map<std::string, SourceLocation, std::less<>>;

  bool problem(std::string_view key, const char* code, std::string message, std::string hint) {
    return problem(config_.places, key, code, std::move(message), std::move(hint));
  }
  bool problem(const Places& places, std::string_view key, const char* code, std::string message, std::string hint) {
    const auto place = places.find(key);
    context_.problems.add(
        {code, std::move(message), place == places.end() ? places.find("")->second : place->second, std::move(hint)});
    return false;
  }

  std::uint32_t node_of(std::uint32_t endpoint) const {
    return cluster_.fabric->vertex(cluster_.endpoints[endpoint]).node;
  }

  /// Ranks of a node, where all nodes have as many, one after the other; else each rank is by itself.
  std::uint32_t ranks_per_node(std::uint32_t ranks) const {
    std::uint32_t first = 1;
    while (first < ranks && node_of(0) != kNoNode && node_of(first) == node_of(0)) { ++first; }
    if (ranks % first != 0) { return 1; }
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      if (node_of(rank) != node_of(rank / first * first)) { return 1; }
    }
    return first;
  }

  bool fit_grid(RecommenderSetup& setup) {
    const auto endpoints = static_cast<std::uint32_t>(cluster_.endpoints.size());
    const std::uint32_t ranks = config_.gpus.value_or(endpoints);
    if (ranks > endpoints) {
      return problem("gpus", "too-many-ranks",
                     fmt::format("{} GPUs, but the cluster has {} endpoints", ranks, endpoints),
                     fmt::format("write {} or less, or use a larger cluster", endpoints));
    }
    setup.grid = {ranks, ranks_per_node(ranks), config_.batch};
    if (config_.batch % ranks == 0) { return true; }
    return problem("batch", "batch-does-not-divide",
                   fmt::format("{} samples are no whole number for each of {} GPUs", config_.batch, ranks),
                   fmt::format("write \"batch\": {}", (config_.batch / ranks + 1) * ranks));
  }

  std::shared_ptr<const AccessLaw> law_of(const AccessConfig& access, std::uint64_t rows) {
    const auto known = std::find_if(laws_.begin(), laws_.end(),
                                    [&](const auto& each) { return each.rows == rows && each.access == access; });
    if (known != laws_.end()) { return known->law; }
    auto law = std::make_shared<const AccessLaw>(make_law(access, rows));
    laws_.push_back({rows, access, law});
    return law;
  }

  AccessLaw make_law(const AccessConfig& access, std::uint64_t rows) const {
    switch (access.law) {
      case AccessConfig::Law::uniform: return AccessLaw::uniform(rows);
      case AccessConfig::Law::zipf: return AccessLaw::zipf(rows, to_double(access.exponent));
      case AccessConfig::Law::steps: {
        std::vector<AccessGroup> groups;
        for (const AccessConfig::Step& step : access.steps) {
          const double count = to_double(step.rows) * static_cast<double>(rows);
          groups.push_back({count, to_double(step.lookups) / count});
        }
        return AccessLaw::stepped(rows, std::move(groups));
      }
      case AccessConfig::Law::counts:
      case AccessConfig::Law::indices: {
        std::vector<std::uint64_t> counts = row_counts(context_.files.text(access.file), access, rows);
        counts.resize(rows);
        return AccessLaw::counted(std::move(counts));
      }
    }
    return AccessLaw::uniform(rows);
  }

  bool check_shards(const TableConfig& table, std::uint32_t width, std::optional<TableSharding> sharding) {
    const bool parted = sharding == TableSharding::column_wise || sharding == TableSharding::grid;
    if (table.column_shards && !parted) {
      return problem(table.places, "column_shards", "no-effect",
                     "parts of columns are of the shardings column_wise and grid",
                     "leave it out, or change \"sharding\"");
    }
    if (parted && !table.column_shards) {
      return problem(table.places, "", "missing-key",
                     fmt::format("{} needs \"column_shards\": into how many parts columns are cut", name(*sharding)),
                     R"(as in "column_shards": 2)");
    }
    if (table.column_shards && width % *table.column_shards != 0) {
      return problem(table.places, "column_shards", "columns-do-not-divide",
                     fmt::format("{} columns are not cut into {} equal parts", width, *table.column_shards),
                     "take a number that divides the width");
    }
    return true;
  }

  bool check_ranks(const TableConfig& table, const EmbeddingGrid& grid, std::optional<TableSharding> sharding) {
    if (table.ranks.empty()) { return check_parts(table, grid, sharding); }
    const bool everywhere = sharding == TableSharding::row_wise || sharding == TableSharding::data_parallel;
    if (!sharding || everywhere) {
      return problem(table.places, "ranks", "no-effect",
                     sharding ? fmt::format("{} has a part on every GPU", name(*sharding))
                              : std::string("the sharding of the table is still to be found"),
                     "leave it out, or write another \"sharding\"");
    }
    const std::size_t parts = table.column_shards.value_or(1);
    if (table.ranks.size() != parts) {
      return problem(table.places, "ranks", "wrong-number",
                     fmt::format("{} GPUs are named for {} part{}", table.ranks.size(), parts, parts == 1 ? "" : "s"),
                     "name one for each part of the columns");
    }
    const bool nodes = sharding == TableSharding::grid || sharding == TableSharding::table_row_wise;
    std::vector<std::uint32_t> holders;
    for (const std::uint32_t rank : table.ranks) {
      if (rank >= grid.ranks) {
        return problem(table.places, "ranks", "unknown-rank", fmt::format("there is no GPU {}", rank),
                       fmt::format("they are counted from 0 to {}", grid.ranks - 1));
      }
      holders.push_back(nodes ? grid.node_of(rank) : rank);
    }
    std::sort(holders.begin(), holders.end());
    const auto twice = std::adjacent_find(holders.begin(), holders.end());
    if (twice == holders.end()) { return true; }
    return problem(table.places, "ranks", "duplicate",
                   fmt::format("two parts are on {} {}", nodes ? "node" : "GPU", *twice), "name each once");
  }

  bool check_parts(const TableConfig& table, const EmbeddingGrid& grid, std::optional<TableSharding> sharding) {
    const std::uint32_t places = sharding == TableSharding::grid ? grid.nodes() : grid.ranks;
    if (table.column_shards.value_or(1) <= places) { return true; }
    return problem(table.places, "column_shards", "too-many-parts",
                   fmt::format("{} parts of columns, and there are {} {} for them", *table.column_shards, places,
                               sharding == TableSharding::grid ? "nodes" : "GPUs"),
                   fmt::format("write {} or less", places));
  }

  bool check_host(const TableConfig& table, std::optional<TableSharding> sharding) {
    if (!table.kept || sharding != TableSharding::data_parallel) { return true; }
    return problem(table.places, "host", "conflict", "a table that every GPU has a copy of lies on GPUs",
                   "leave \"host\" out, or change \"sharding\"");
  }

  bool add_table(const TableConfig& table, RecommenderSetup& setup) {
    const std::optional<std::uint32_t> width = table.width ? table.width : config_.width;
    if (!width) {
      return problem(table.places, "", "missing-key", "nothing says how many elements a row has",
                     R"(write "width" here, or for all tables in the model)");
    }
    const std::optional<TableSharding> sharding = table.sharding ? table.sharding : config_.sharding;
    if (!check_shards(table, *width, sharding) || !check_ranks(table, setup.grid, sharding) ||
        !check_host(table, sharding)) {
      return false;
    }
    EmbeddingTable one;
    one.width = *width;
    one.lookups = to_double(table.lookups);
    if (table.kept) { one.kept = to_double(*table.kept); }
    one.policy = table.cache.value_or(RowCachePolicy::lru);
    one.sharding = sharding;
    one.column_shards = table.column_shards.value_or(1);
    one.ranks = table.ranks;
    for (const std::uint64_t rows : table.rows) {
      one.rows = rows;
      one.access = law_of(table.access ? *table.access : config_.access, rows);
      for (std::uint32_t i = 0; i < table.count; ++i) {
        const std::size_t number = setup.model.tables.size();
        one.name = table.name.empty() ? fmt::format("{}", number) : table.name;
        if (!table.name.empty() && table.rows.size() * table.count > 1) { one.name += fmt::format(" {}", number); }
        setup.model.tables.push_back(one);
        places_.push_back(&table.places);
      }
    }
    return setup.model.tables.size() <= kMostTables ||
           problem("model", "too-many-tables", fmt::format("there are over {} tables", kMostTables), "take fewer");
  }

  bool add_tables(RecommenderSetup& setup) {
    try {
      return std::all_of(config_.tables.begin(), config_.tables.end(),
                         [&](const TableConfig& table) { return add_table(table, setup); });
    } catch (const FileError& error) {
      return problem("model", "no-file", error.what(), "a path is relative to the scenario's file");
    } catch (const ScenarioError& error) {
      for (const Problem& each : error.problems()) { context_.problems.add(each); }
      return false;
    }
  }

  bool fit_model(const RecommenderSetup& setup) {
    const RecommenderModel& model = setup.model;
    if ((model.dense_features == 0) != model.bottom.empty()) {
      return problem("model", "missing-key",
                     model.bottom.empty() ? "dense features go through a bottom MLP, and \"bottom\" has no layers"
                                          : "the bottom MLP has layers, and there are no \"dense_features\"",
                     "write both, or none");
    }
    if (model.interaction != FeatureInteraction::dot) { return true; }
    const std::uint32_t width = model.bottom.empty() ? model.tables.front().width : model.bottom.back();
    for (std::size_t t = 0; t < model.tables.size(); ++t) {
      if (model.tables[t].width == width) { continue; }
      return problem(*places_[t], "width", "unequal-widths",
                     fmt::format("products of pairs are of vectors of one width: table {} has {} elements, and {} {}",
                                 model.tables[t].name, model.tables[t].width,
                                 model.bottom.empty() ? "the first table" : "the bottom MLP gives", width),
                     R"(make them equal, or write "interaction": "concat" or "cross")");
    }
    return true;
  }

  bool find_gpu(RecommenderSetup& setup) {
    ClusterGpus gpus{{config_.gpu}, {}};
    if (!config_.gpu) { gpus = gpus_of(described_, cluster_, context_.library); }
    if (gpus.gpus.empty() || !gpus.gpus.front()) {
      return problem("", "no-gpu", "nothing says which GPUs these are", R"(name a preset: "gpu": "H100-SXM-80GB")");
    }
    if (gpus.gpus.size() > 1) {
      return problem("", "unequal-gpus", "the cluster has GPUs of several kinds, and here all are alike",
                     R"(train on nodes of one kind, or name what counts: "gpu": "H100-SXM-80GB")");
    }
    try {
      setup.gpu = find_gpu_rates(*gpus.gpus.front(), context_.library);
      if (setup.gpu.host_bandwidth == 0) { setup.gpu.host_bandwidth = host_bandwidth(cluster_); }
      peak_of(setup.gpu, config_.precision);
    } catch (const ScenarioError& error) {
      for (const Problem& each : error.problems()) { context_.problems.add(each); }
      return false;
    } catch (const SimulationError& error) {
      return problem("precision", error.code().c_str(), error.what(), "choose another precision");
    }
    return true;
  }

  bool find_compute(RecommenderSetup& setup) {
    if (config_.compute) {
      setup.compute = *config_.compute;
      return true;
    }
    const auto pool = context_.pools.steps(context_.library);
    if (!pool) {
      return problem("", "no-compute-profile", "the library has no pool that tells how fast GPUs compute",
                     "name a profile: \"compute\" (see athanor list compute)");
    }
    setup.compute = pooled_compute(*pool, compute_parts(setup.gpu, config_.precision, TrainedModel{}));
    return true;
  }

  /// Inputs and rows of tables in the host's memory need a link to it.
  bool fit_host(RecommenderSetup& setup) {
    const std::vector<EmbeddingTable>& tables = setup.model.tables;
    const auto on_host = std::find_if(tables.begin(), tables.end(), [](const auto& each) { return each.kept; });
    if (setup.gpu.host_bandwidth == 0) {
      if (on_host == tables.end() && !config_.host_inputs) { return true; }
      return problem(on_host == tables.end() ? "host_inputs" : "model", "no-host-link",
                     "nothing says how fast GPUs reach the host's memory",
                     "name a node with PCIe or C2C, or leave inputs on GPUs (\"host_inputs\": false)");
    }
    if (!config_.host_inputs) { return true; }
    constexpr double kFp32 = 4;
    double sample = (setup.model.dense_features + 1) * kFp32;  // and the label
    for (const EmbeddingTable& table : tables) { sample += table.lookups * setup.numbers.index + setup.numbers.length; }
    setup.input_bytes = sample * static_cast<double>(setup.grid.own_batch());
    return true;
  }

  /// Of a GPU, without tables: what is trained beside them, and pooled vectors with their gradients.
  double other_memory(const RecommenderSetup& setup) const {
    const double trained = (bottom_parameters(setup.model) + top_parameters(setup.model)) * kStateOfDense;
    const double pooled = interaction_inputs(setup.model) * static_cast<double>(setup.grid.own_batch());
    return trained + pooled * (bytes_of(setup.numbers.pooled) + bytes_of(setup.numbers.gradients));
  }

  bool plan(Recommender& recommender) {
    RecommenderSetup& setup = recommender.setup;
    const double share = to_double(config_.memory_share);
    const double others = other_memory(setup);
    const double room = setup.gpu.memory * share - others;
    recommender.plan = plan_sharding(setup.model.tables, setup.grid, setup.numbers, room);
    recommender.memory = others;
    if (recommender.plan.obstacle.empty()) {
      recommender.memory += recommender.plan.most_memory();
      setup.shards = recommender.plan.shards;
      return true;
    }
    const Places& places = recommender.plan.table ? *places_[*recommender.plan.table] : config_.places;
    return problem(places, "", "tables-do-not-fit",
                   fmt::format("{} ({:g} of the memory of {}, without {:.2f} GB for what is trained beside them)",
                               recommender.plan.obstacle, share, setup.gpu.name, others * kGigabyte),
                   "take more GPUs, row_wise, a narrower \"table_precision\", or the host's memory (\"host\")");
  }

  void take_measured(Recommender& recommender) const {
    recommender.measured = config_.measured_step;
    if (!config_.measured_samples) { return; }
    const double seconds = static_cast<double>(config_.batch) / to_double(*config_.measured_samples);
    recommender.measured = Time{static_cast<std::int64_t>(seconds * 1e12)};
  }

  void note(Recommender& recommender) const {
    const RecommenderSetup& setup = recommender.setup;
    std::vector<std::string>& notes = recommender.notes;
    const ShardingPlan& plan = recommender.plan;
    const double host = *std::max_element(plan.host_memory.begin(), plan.host_memory.end());
    notes.push_back(
        fmt::format("memory: {:.2f} GB of tables on the fullest GPU, {:.2f} GB beside them{}; activations "
                    "and the CUDA context are not counted",
                    plan.most_memory() * kGigabyte, other_memory(setup) * kGigabyte,
                    host > 0 ? fmt::format(", {:.2f} GB of tables in the memory of its host", host * kGigabyte) : ""));
    notes.push_back(fmt::format("look-ups: the busiest GPU reads {:.2f} times the mean", plan.imbalance()));
    if (std::any_of(setup.shards.begin(), setup.shards.end(), [](const TableShard& each) {
          return each.by_node() || each.sharding == TableSharding::row_wise;
        })) {
      notes.emplace_back("rows are taken to be spread at random: each part of a table gets its share of look-ups");
    }
    if (setup.input_bytes > 0) {
      notes.push_back(fmt::format("samples come from the host: {:.2f} MB for each GPU in a step at {:.1f} GB/s",
                                  setup.input_bytes * 1e-6, setup.gpu.host_bandwidth * kGigabyte));
    }
    notes.push_back(
        fmt::format("tables: {:g} of the memory's bandwidth; other kernels: the compute profile {}, which "
                    "is of training other models",
                    setup.stream_share, setup.compute.name));
  }

  struct KnownLaw {
    std::uint64_t rows = 0;
    AccessConfig access;
    std::shared_ptr<const AccessLaw> law;
  };

  ReadingContext& context_;
  const ClusterConfig& described_;
  const Cluster& cluster_;
  const RecommenderConfig& config_;
  std::vector<const Places*> places_;  ///< by table
  std::vector<KnownLaw> laws_;
};

}  // namespace

std::shared_ptr<const Recommender> resolve_recommender(ReadingContext& context, const ClusterConfig& described,
                                                       const Cluster& cluster, const RecommenderConfig& config) {
  return RecommenderResolution(context, described, cluster, config).resolve();
}

}  // namespace athanor
