#include "models/experiments/scenario/recommender_section.hpp"

#include <cmath>

#include <fmt/core.h>

#include "models/experiments/recommender.hpp"
#include "models/experiments/scenario/compute_profile_section.hpp"
#include "models/experiments/scenario/experiment_reader.hpp"
#include "models/experiments/scenario/resolve_recommender.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

using Type = FieldValue::Form::Type;
using Law = AccessConfig::Law;

constexpr std::uint64_t kMostRows = 1'000'000'000'000;

void read_steps(Fields& fields, AccessConfig& access) {
  fields.required_list("steps", access.steps, "From some rows to others", [](Fields& inner, AccessConfig::Step& step) {
    inner.required("rows", step.rows, "Their share of the table's", {{1, 1'000'000'000}, {1, 1}});
    inner.required("lookups", step.lookups, "Their share of its look-ups", {{0, 1}, {1, 1}});
  });
  if (!fields.ok()) { return; }
  double rows = 0;
  double lookups = 0;
  for (const AccessConfig::Step& step : access.steps) {
    rows += to_double(step.rows);
    lookups += to_double(step.lookups);
  }
  constexpr double kClose = 1e-9;
  for (const auto& [what, sum] : {std::pair{"rows", rows}, std::pair{"lookups", lookups}}) {
    if (std::abs(sum - 1) <= kClose) { continue; }
    fields.problem("steps", "shares-do-not-sum", fmt::format("the shares of \"{}\" sum to {:g}, not to 1", what, sum),
                   "change them, or add a step for the rest");
  }
}

void visit_access(Fields& fields, AccessConfig& access) {
  const auto as = [&](Law law, auto visit) {
    return [&access, law, visit](Fields& nested) {
      access.law = law;
      visit(nested);
    };
  };
  const auto file = [&](Fields& f) {
    f.required("file", access.file, "Its path, relative to the scenario: whole numbers, in lines or with commas");
  };
  fields.choice("law", "How look-ups are spread over rows",
                {{"uniform", "evenly", as(Law::uniform, [](Fields&) {})},
                 {"zipf", "the k-th most popular row gets a share in proportion to 1 / k^exponent",
                  as(Law::zipf,
                     [&](Fields& f) {
                       f.required("exponent", access.exponent, "That power", {{1, 1000}, {10, 1}});
                     })},
                 {"steps", "some rows get so much of all, evenly among them",
                  as(Law::steps, [&](Fields& f) { read_steps(f, access); })},
                 {"counts", "as a file says how often each row was looked up", as(Law::counts, file)},
                 {"indices", "as a file says which rows were looked up", as(Law::indices, file)}});
  access.place = fields.place();
}

Names<TableSharding> shardings() {
  return {{"data_parallel", TableSharding::data_parallel},   {"table_wise", TableSharding::table_wise},
          {"column_wise", TableSharding::column_wise},       {"row_wise", TableSharding::row_wise},
          {"table_row_wise", TableSharding::table_row_wise}, {"grid", TableSharding::grid}};
}

void read_cache(Fields& fields, TableConfig& table) {
  const auto as = [&](RowCachePolicy policy) {
    return [&table, policy](Fields& f) {
      table.cache = policy;
      f.required("share", table.kept.emplace(1, 10), "Of its rows, that GPUs keep",
                 {{1, 1'000'000}, {999'999, 1'000'000}});
    };
  };
  fields.choice("policy", "Which rows GPUs keep",
                {{"none", "none: each look-up reads the host's memory", [&](Fields&) { table.kept.emplace(0, 1); }},
                 {"lru", "those that were looked up last", as(RowCachePolicy::lru)},
                 {"lfu", "those that were looked up most often so far", as(RowCachePolicy::lfu)},
                 {"static", "the most popular ones, chosen in advance", as(RowCachePolicy::static_hot)}});
}

void visit_table(Fields& fields, TableConfig& table) {
  fields.optional("name", table.name, "For people");
  fields.required_value("rows", "How many; or a list, of a table for each number", [&](FieldValue& value) {
    const Range<std::uint64_t> range{1, kMostRows};
    value.one_of({{Type::number, [&](FieldValue& n) { n.visit(table.rows.emplace_back(1), range); }},
                  {Type::list, [&](FieldValue& list) { list.visit(table.rows, range); }}});
  });
  fields.optional("count", table.count, "So many alike", {1, 100'000});
  fields.optional("width", table.width, "Elements of a row; absent: the model's \"width\"", {1, 65'536});
  fields.optional("lookups", table.lookups, "Rows that a sample looks up, on average; their sum goes on",
                  {{1, 1000}, {1'000'000, 1}});
  fields.optional_object("access", "How look-ups are spread over its rows; absent: as the model says",
                         [&](Fields& inner) { visit_access(inner, table.access.emplace()); });
  fields.optional("sharding", table.sharding, "How it is spread over GPUs; absent: as \"sharding\" of all",
                  shardings());
  fields.optional("column_shards", table.column_shards, "Of column_wise and grid: parts of its columns", {2, 65'536});
  fields.optional("ranks", table.ranks,
                  "The GPU that has it, one for each part of its columns; of table_row_wise and grid any one of the "
                  "node; absent: who reads least");
  fields.optional_object("host", "It lies in the host's memory, and GPUs keep some rows",
                         [&](Fields& inner) { read_cache(inner, table); });
  for (const char* key : {"", "rows", "width", "sharding", "column_shards", "ranks", "host", "access"}) {
    table.places[key] = fields.place(key);
  }
}

void read_interaction(Fields& fields, RecommenderModel& model) {
  const auto as = [&](FeatureInteraction kind) { return [&model, kind](Fields&) { model.interaction = kind; }; };
  fields.choice("interaction", "How vectors of features meet",
                {{"dot", "products of all pairs (DLRM)", as(FeatureInteraction::dot)},
                 {"concat", "one after the other", as(FeatureInteraction::concat)},
                 {"cross", "cross layers of low rank (DCN V2)",
                  [&](Fields& f) {
                    model.interaction = FeatureInteraction::cross;
                    f.optional("cross_layers", model.cross_layers, "How many", {1, 100});
                    f.optional("cross_rank", model.cross_rank, "Of their matrices", {1, 65'536});
                  }}},
                "dot");
}

void visit_model(Fields& fields, RecommenderConfig& config) {
  const Range<std::uint32_t> widths{1, 1'000'000};
  fields.optional("name", config.model.name, "As results name it");
  fields.optional("dense_features", config.model.dense_features, "Numbers of a sample", {0, 1'000'000});
  fields.optional("bottom", config.model.bottom, "Widths of the layers that these go through", widths);
  fields.optional("top", config.model.top, "Widths of the layers behind the interaction", widths);
  read_interaction(fields, config.model);
  fields.optional("width", config.width, "Elements of a row, of tables that do not say it", {1, 65'536});
  fields.optional_object("access", "How look-ups are spread over rows, of tables that do not say it",
                         [&](Fields& inner) { visit_access(inner, config.access); });
  fields.required_list("tables", config.tables, "Of vectors", visit_table);
}

Names<Precision> wide_precisions() {
  return {{"fp32", Precision::fp32}, {"fp16", Precision::fp16}, {"bf16", Precision::bf16}};
}

void read_numbers(Fields& fields, RecommenderConfig& config) {
  EmbeddingNumbers& numbers = config.numbers;
  fields.optional(
      "precision", config.precision, "Of products outside of tables",
      {{"fp32", Precision::fp32}, {"tf32", Precision::tf32}, {"fp16", Precision::fp16}, {"bf16", Precision::bf16}});
  fields.optional("table_precision", numbers.weights, "In which tables are kept", wide_precisions());
  fields.optional("pooled_precision", numbers.pooled, "In which pooled vectors are exchanged", wide_precisions());
  fields.optional("gradient_precision", numbers.gradients, "In which their gradients are", wide_precisions());
  fields.optional("index_bytes", numbers.index, "Of an index: 4 or 8", {4, 8});
  fields.optional("optimizer", numbers.optimizer, "How rows are updated",
                  {{"sgd", RowOptimizer::sgd},
                   {"rowwise_adagrad", RowOptimizer::rowwise_adagrad},
                   {"adagrad", RowOptimizer::adagrad}});
  if (numbers.index != 4 && numbers.index != 8) {
    fields.problem("index_bytes", "out-of-range", fmt::format("no index has {} bytes", numbers.index), "write 4 or 8");
  }
}

void read_gpus(Fields& fields, ReadingContext& context, RecommenderConfig& config) {
  fields.optional("sharding", config.sharding,
                  "How tables are spread over GPUs that do not say it; absent: it is found for each", shardings());
  fields.optional("pipeline", config.pipeline, "What is done for the next batch beside a step",
                  {{"none", BatchPipeline::none},
                   {"sparse_dist", BatchPipeline::sparse_dist},
                   {"prefetch", BatchPipeline::prefetch}});
  fields.optional("fused", config.fused, "Activations are computed by products, not by kernels of their own");
  fields.optional("host_inputs", config.host_inputs, "Samples come from the host's memory in each step");
  fields.optional("stream_share", config.stream_share, "Of the memory's bandwidth, that look-ups and updates reach",
                  {{1, 100}, {1, 1}});
  fields.optional("memory_share", config.memory_share, "Of a GPU's memory, for tables and what is trained beside them",
                  {{1, 100}, {1, 1}});
  fields.optional_value("compute", "How fast GPUs compute: a name of `athanor list compute`, a file, or the figures",
                        [&](FieldValue& value) {
                          read_compute_profile(value, context.files, context.library, context.problems,
                                               config.compute.emplace());
                        });
  optional_device(fields, "gpu", "Whose peak counts: a preset, one with changes, or a GPU in full; absent: the nodes'",
                  config.gpu);
}

void read_measured(Fields& fields, RecommenderConfig& config) {
  fields.optional_object("measured", "What `athanor verify` holds a step against: one of both", [&](Fields& inner) {
    inner.optional("samples_per_s", config.measured_samples, "Of all GPUs together", {{1, 1}, {1'000'000'000'000, 1}});
    inner.optional("step_time", config.measured_step, "Of a step", {Time{1}});
    if (inner.ok() && config.measured_samples.has_value() == config.measured_step.has_value()) {
      inner.problem("", config.measured_step ? "conflict" : "missing-key",
                    "either \"samples_per_s\" or \"step_time\" was measured", "write one of them");
    }
  });
  fields.optional("max_error", config.max_error, "It fails above this |simulated / measured - 1|", {{0, 1}, {100, 1}});
  if (config.max_error && !fields.has("measured") && fields.ok()) {
    fields.problem("max_error", "no-effect", "nothing was measured", R"(leave it out, or write "measured")");
  }
}

}  // namespace

void visit(Fields& fields, ReadingContext& context, RecommenderConfig& config) {
  fields.required_object("model", "What is trained", [&](Fields& inner) { visit_model(inner, config); });
  fields.required("batch", config.batch, "Samples of a step, of all GPUs together", {1, 1'000'000'000});
  fields.optional("gpus", config.gpus, "So many, from the first endpoint on; absent: all", {1, 1'000'000});
  read_numbers(fields, config);
  read_gpus(fields, context, config);
  read_measured(fields, config);
  for (const char* key :
       {"", "model", "batch", "gpus", "precision", "sharding", "memory_share", "pipeline", "host_inputs"}) {
    config.places[key] = fields.place(key);
  }
}

namespace {

class RecommenderReader : public ExperimentReader {
 public:
  void visit(Fields& section, ReadingContext& context) override { athanor::visit(section, context, config_); }

  void fit(CaseParts& parts) override {
    recommender_ =
        resolve_recommender(parts.context, *parts.scenario_case.cluster_config, *parts.platform().cluster, config_);
  }

  std::shared_ptr<const Experiment> make(CaseParts& parts) override {
    std::optional<WorkloadNccl> nccl = prepare_workload(recommender_->setup.grid.ranks, parts);
    if (!nccl) { return nullptr; }
    return std::make_shared<const RecommenderExperiment>(recommender_, std::move(*nccl));
  }

 private:
  RecommenderConfig config_;
  std::shared_ptr<const Recommender> recommender_;
};

}  // namespace

std::unique_ptr<ExperimentReader> recommender_reader() { return std::make_unique<RecommenderReader>(); }

}  // namespace athanor
