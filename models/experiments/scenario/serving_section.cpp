#include "models/experiments/scenario/serving_section.hpp"

#include <cmath>

#include <fmt/core.h>

#include "models/experiments/scenario/compute_profile_section.hpp"
#include "models/experiments/scenario/costs_section.hpp"
#include "models/experiments/scenario/experiment_reader.hpp"
#include "models/experiments/scenario/resolve_serving.hpp"
#include "models/experiments/serving.hpp"
#include "models/experiments/serving_columns.hpp"
#include "sim/wall_time.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

using Type = FieldValue::Form::Type;

constexpr std::uint32_t kMostTokens = 10'000'000;  ///< of a prompt or an output
constexpr std::uint64_t kMostRequests = 20'000'000;

void visit_law(Fields& fields, TokenCount& law) {
  Ratio mean{1, 1};
  Ratio sigma{1, 1};
  fields.required("mean", mean, "Tokens", {{1, 1}, {kMostTokens, 1}});
  fields.optional("sigma", sigma, "Standard deviation of the logarithm, whose law is normal", {{1, 1000}, {10, 1}});
  fields.optional("least", law.least, "What is drawn below is cut to this", {1, kMostTokens});
  fields.optional("most", law.most, "What is drawn above is cut to this", {1, kMostTokens});
  law.mean = to_double(mean);
  law.sigma = to_double(sigma);
  if (law.least > law.most) {
    fields.problem("least", "out-of-range", "the least number of tokens is above the most", "make it smaller");
  } else if (law.mean < law.least || law.mean > law.most) {
    fields.problem("mean", "out-of-range",
                   fmt::format("the mean is not among the {} to {} tokens that are kept", law.least, law.most),
                   "change it, or \"least\" and \"most\"");
  }
}

void read_tokens(FieldValue& value, TokenCount& law) {
  std::uint32_t fixed = 1;
  value.one_of(
      {{Type::number,
        [&](FieldValue& number) {
          number.visit(fixed, {1, kMostTokens});
          if (number.ok()) { law = {.mean = static_cast<double>(fixed), .most = kMostTokens}; }
        }},
       {Type::object, [&](FieldValue& object) { object.object([&](Fields& fields) { visit_law(fields, law); }); }}});
}

void read_lengths(Fields& fields, RequestRules& drawn) {
  fields.required_value("prompt", "Tokens: a number, or a law that is drawn from",
                        [&](FieldValue& value) { read_tokens(value, drawn.prompt); });
  fields.required_value("output", "Tokens that are generated, likewise",
                        [&](FieldValue& value) { read_tokens(value, drawn.output); });
}

void read_poisson(Fields& fields, RequestRules& drawn) {
  Ratio rate{1, 1};
  std::optional<std::uint64_t> count;
  std::optional<WallTime> duration;
  fields.required("rate", rate, "Requests per second, on average", {{1, 100'000}, {1'000'000, 1}});
  fields.optional("count", count, "So many requests; or a \"duration\"", {1, kMostRequests});
  fields.optional("duration", duration, "Requests arrive for so long; or a \"count\"",
                  {WallTime{1}, WallTime{std::int64_t{30} * 86'400 * 1'000'000}});
  read_lengths(fields, drawn);
  if (!fields.ok()) { return; }
  if (count.has_value() == duration.has_value()) {
    return fields.problem(count ? "duration" : "", count ? "conflict" : "missing-key",
                          "either a \"count\" of requests or a \"duration\" says when they end",
                          R"(as in "count": 10000)");
  }
  drawn.count = count.value_or(0);
  drawn.between = Time{std::llround(1e12 / to_double(rate))};
  if (!duration) { return; }
  drawn.duration = Time{duration->count()} * 1'000'000;
  if (seconds(drawn.duration) * to_double(rate) > static_cast<double>(kMostRequests)) {
    fields.problem("duration", "too-many-requests", fmt::format("over {} requests arrive in that time", kMostRequests),
                   "make it shorter");
  }
}

void read_requests(Fields& fields, ServingConfig& config) {
  fields.choice("arrivals", "When requests arrive",
                {{"poisson", "independent of each other, at a rate", [&](Fields& f) { read_poisson(f, config.drawn); }},
                 {"at_once", "all at the beginning: the most that can be served",
                  [&](Fields& f) {
                    config.drawn.between.reset();
                    f.required("count", config.drawn.count, "So many requests", {1, kMostRequests});
                    read_lengths(f, config.drawn);
                  }},
                 {"trace", "as they were recorded", [&](Fields& f) {
                    f.required(
                        "file", config.trace,
                        "CSV or JSON lines, its path relative to the scenario: columns TIMESTAMP, ContextTokens, "
                        "GeneratedTokens (Azure), timestamp, input_length, output_length (Mooncake), or arrival, "
                        "prompt, output");
                  }}});
  config.places["file"] = fields.place("file");
}

void visit_batching(Fields& fields, EngineRules& rules) {
  fields.optional("max_running", rules.max_running, "Requests that an iteration takes at most", {1, 65'536});
  fields.optional("max_batched_tokens", rules.max_batched_tokens, "Tokens of an iteration at most", {1, 1'000'000});
  fields.optional("chunked_prefill", rules.chunked_prefill, "Prompts are cut where an iteration has no room for them");
  fields.optional("reserve_output", rules.reserve_output,
                  "A request comes to run when there are pages for its whole output, too, so that none is preempted");
  fields.optional("page", rules.page, "Tokens of a page of the KV cache", {1, 4096});
  if (rules.max_running <= rules.max_batched_tokens) { return; }
  const bool written = fields.has("max_running");
  fields.problem(written ? "max_running" : "max_batched_tokens", "out-of-range",
                 fmt::format("{} requests{} have a token each in an iteration of at most {} tokens", rules.max_running,
                             written ? "" : ", the default of \"max_running\",", rules.max_batched_tokens),
                 fmt::format("write \"max_running\": {} or less, or make \"max_batched_tokens\" larger",
                             rules.max_batched_tokens));
}

Names<Precision> served_precisions() {
  return {{"fp16", Precision::fp16}, {"bf16", Precision::bf16}, {"fp8", Precision::fp8}};
}

void visit_pool(Fields& fields, PoolConfig& pool) {
  fields.optional("replicas", pool.replicas, "Of the pool; absent with \"search\"", {1, 1'000'000});
  fields.optional("tensor", pool.tensor, "GPUs of each, which share every layer", {1, 65'536});
  fields.optional_object("batching", pool.batching, "How they put requests together; absent: as all replicas do",
                         visit_batching);
  pool.place = fields.place("tensor");
}

void visit_transfer(Fields& fields, PoolsConfig& pools) {
  fields.optional("pieces", pools.transfer.pieces,
                  "Of layers, each of which is sent as soon as it is computed; 1: all behind the prompt", {1, 100'000});
  fields.optional("overhead", pools.transfer.overhead,
                  "From when there is room for keys and values until they are sent");
  pools.place_of_pieces = fields.place("pieces");
}

void visit_pools(Fields& fields, PoolsConfig& pools) {
  fields.required_object("prefill", pools.prefill, "Replicas that compute prompts and first tokens", visit_pool);
  fields.required_object("decode", pools.decode, "Replicas that generate what follows", visit_pool);
  fields.optional("search", pools.search,
                  "Every division of the GPUs is simulated; that with most requests within limits counts");
  fields.optional_object("transfer", pools, "How keys and values come from one to the other", visit_transfer);
  if (!fields.ok()) { return; }
  for (const auto& [key, pool] : {std::pair{"prefill", &pools.prefill}, std::pair{"decode", &pools.decode}}) {
    if (pools.search && pool->replicas) {
      fields.problem(key, "conflict", "\"search\" finds out how many \"replicas\" there are, and here they are given",
                     "leave out one of the two");
    } else if (!pools.search && !pool->replicas) {
      fields.problem(key, "missing-key", "nothing says how many \"replicas\" there are",
                     R"(write "replicas", or "search": true beside the pools)");
    }
  }
}

void refuse_beside_pools(Fields& fields, const ServingConfig& config) {
  if (!config.pools || !fields.ok()) { return; }
  for (const char* key : {"tensor", "replicas"}) {
    if (fields.has(key)) {
      fields.problem(key, "no-effect", fmt::format("each of the \"pools\" has a \"{}\" of its own", key),
                     "leave it out, or write it into \"prefill\" and \"decode\"");
    }
  }
  if (fields.has("batching") && config.pools->prefill.batching && config.pools->decode.batching) {
    fields.problem("batching", "no-effect", "each of the \"pools\" has a \"batching\" of its own", "leave it out");
  }
  if (config.pools->search && config.limits == ServingLimits{}) {
    fields.problem("pools", "no-limits", "\"search\" looks for most requests within limits, and there are none",
                   R"(write "limits", as in "limits": {"ttft": "500ms", "tpot": "40ms"})");
  }
}

void read_hardware(Fields& fields, ReadingContext& context, ServingConfig& config) {
  fields.optional("precision", config.precision, "Of the weights of layers, and of products with them",
                  served_precisions());
  fields.optional("kv_precision", config.kv_precision, "Of kept keys and values; absent: 16 bits", served_precisions());
  fields.optional("tensor", config.tensor, "GPUs of a replica, which share every layer", {1, 65'536});
  fields.optional("replicas", config.replicas, "Copies of the model; absent: as many as the cluster has room for",
                  {1, 1'000'000});
  fields.optional_value("compute", "How fast GPUs compute: a name of `athanor list compute`, a file, or the figures",
                        [&](FieldValue& value) {
                          read_compute_profile(value, context.files, context.library, context.problems,
                                               config.compute.emplace());
                        });
  optional_device(fields, "gpu", "Whose peak counts: a preset, one with changes, or a GPU in full; absent: the nodes'",
                  config.gpu);
  fields.optional("memory_share", config.memory_share,
                  "Of a GPU's memory, for weights and the KV cache (gpu_memory_utilization of vLLM)",
                  {{1, 100}, {1, 1}});
  fields.optional("stream_share", config.stream_share,
                  "Of the memory's bandwidth, that reading weights and kept tokens reaches", {{1, 100}, {1, 1}});
  fields.optional("overhead", config.overhead, "Of each iteration: what the host takes while the GPU waits");
}

void read_costs_of_serving(Fields& fields, CostFigures& costs) {
  read_costs(fields, costs);
  if (costs.tokens) {
    fields.problem("tokens", "no-effect", "it is of a whole training, and this is serving", "leave it out");
  }
}

void read_limits(Fields& fields, ServingConfig& config) {
  fields.optional_object("limits", "What a request may take to count for goodput", [&](Fields& inner) {
    inner.optional("ttft", config.limits.ttft, "To its first token", {Time{1}});
    inner.optional("tpot", config.limits.tpot, "For each further one, on average", {Time{1}});
  });
  if (fields.has("limits") && config.limits == ServingLimits{} && fields.ok()) {
    fields.problem("limits", "no-effect", "it names no limit", R"(leave it out, or write "limits": {"ttft": "500ms"})");
  }
}

void read_measured(Fields& fields, ServingConfig& config) {
  constexpr Ratio kLeast{1, 1'000'000'000};
  constexpr Ratio kMost{1'000'000'000'000, 1};
  constexpr Ratio kWhole{1, 1};
  fields.optional_object("measured", "Figures that `athanor verify` holds results against", [&](Fields& inner) {
    for (const Column* column : ServingExperiment::measurable()) {
      const bool share = column->format == Format::percent;
      inner.optional(column->key, config.measured[column], "As results have it", {kLeast, share ? kWhole : kMost});
    }
    if (config.measured[&kWithinLimits] && config.limits == ServingLimits{}) {
      inner.problem(kWithinLimits.key, "no-effect", "results have it where there are limits, and there are none",
                    R"(write "limits", as in "limits": {"ttft": "500ms"})");
    }
    for (const Column* column : {&kKvTransferMean, &kKvTransferMedian, &kKvTransferP99}) {
      if (config.measured[column] && !config.pools) {
        inner.problem(column->key, "no-effect", "keys and values move between \"pools\", and there are none",
                      "leave it out, or write \"pools\"");
      }
    }
  });
  fields.optional("max_error", config.max_error, "It fails above this |simulated / measured - 1|", {{0, 1}, {100, 1}});
  for (const auto& [column, value] : config.measured) {
    if (value) { return; }
  }
  if (fields.has("measured") && fields.ok()) {
    return fields.problem("measured", "no-effect", "it names no figure",
                          R"(leave it out, or write "measured": {"output_tokens_per_s": 5000})");
  }
  if (config.max_error) {
    fields.problem("max_error", "no-effect", "it is of figures that were measured, and none is named",
                   R"(leave it out, or write "measured": {"output_tokens_per_s": 5000})");
  }
}

}  // namespace

void visit(Fields& fields, ReadingContext& context, ServingConfig& config) {
  fields.required_value(
      "model", "What is served: a name of `athanor list models`, a file, or its figures",
      [&](FieldValue& value) { read_model(value, context.library, context.files, context.problems, config.model); });
  read_hardware(fields, context, config);
  fields.required_object("requests", "What is asked", [&](Fields& inner) { read_requests(inner, config); });
  fields.optional_object("batching", config.rules.engine, "How a replica puts requests together", visit_batching);
  fields.optional("balance", config.rules.balance, "Which replica a request goes to",
                  {{"round_robin", Balance::round_robin}, {"least_load", Balance::least_load}});
  fields.optional_object("pools", config.pools, "Replicas that compute prompts, and others that generate tokens",
                         visit_pools);
  read_limits(fields, config);
  refuse_beside_pools(fields, config);
  read_measured(fields, config);
  fields.optional_object("costs", "What the machine draws and costs",
                         [&](Fields& inner) { read_costs_of_serving(inner, config.costs); });
  config.place = fields.place();
  for (const char* key : {"model", "tensor", "replicas", "precision", "requests", "pools", "limits"}) {
    config.places[key] = fields.place(key);
  }
}

namespace {

class ServingReader : public ExperimentReader {
 public:
  void visit(Fields& section, ReadingContext& context) override { athanor::visit(section, context, config_); }

  void fit(CaseParts& parts) override {
    serving_ = resolve_serving(parts.context, *parts.scenario_case.cluster_config, *parts.platform().cluster, config_);
  }

  std::shared_ptr<const Experiment> make(CaseParts& parts) override {
    std::optional<WorkloadNccl> nccl = prepare_workload(serving_->gpus(), parts);
    if (!nccl) { return nullptr; }
    return std::make_shared<const ServingExperiment>(serving_, std::move(*nccl));
  }

 private:
  ServingConfig config_;
  std::shared_ptr<const Serving> serving_;
};

}  // namespace

std::unique_ptr<ExperimentReader> serving_reader() { return std::make_unique<ServingReader>(); }

}  // namespace athanor
