#include "tools/scenario/training_section.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/training/layer_spread.hpp"
#include "models/training/step/rank_grid.hpp"
#include "sim/error.hpp"
#include "tools/scenario/compute_profile_section.hpp"
#include "tools/scenario/costs_section.hpp"
#include "tools/scenario/read_case.hpp"
#include "tools/scenario/training_gpus.hpp"

namespace athanor {

namespace {

constexpr std::uint32_t kMostRanks = 1'000'000;

void read_degrees(ObjectReader& reader, TrainingText& text) {
  ParallelPlan& plan = text.plan;
  reader.optional("tensor", plan.tensor, "GPUs that share every layer", {1, kMostRanks});
  reader.optional("context", plan.context, "GPUs that share every sequence", {1, kMostRanks});
  reader.optional("pipeline", plan.pipeline, "Stages that share the layers", {1, kMostRanks});
  reader.optional("data", text.data,
                  "Copies, each with batches of its own; absent: as many as the cluster has room for", {1, kMostRanks});
  reader.optional("expert", plan.expert, "GPUs, of those that otherwise hold copies, that share the experts",
                  {1, kMostRanks});
  reader.optional("expert_tensor", plan.expert_tensor, "GPUs that share every expert: 1, or as `tensor`",
                  {1, kMostRanks});
  reader.optional_value("order", "Which of these varies fastest over ranks", [&](ValueReader& value) {
    value.read(plan.order);
    if (!value.describing() && value.ok() && !is_rank_order(plan.order)) {
      value.problem("wrong-order", fmt::format("'{}' does not name each of tp, cp, ep, dp and pp once", plan.order),
                    R"(write it as "tp-cp-ep-dp-pp")");
    }
  });
}

void read_pipeline(ObjectReader& reader, ParallelPlan& plan) {
  reader.optional("schedule", plan.schedule, "In which order micro-batches go through the stages",
                  {{"gpipe", PipelineKind::gpipe},
                   {"1f1b", PipelineKind::one_f_one_b},
                   {"interleaved", PipelineKind::interleaved},
                   {"zb_h1", PipelineKind::zb_h1},
                   {"zb_h2", PipelineKind::zb_h2},
                   {"zb_v", PipelineKind::zb_v},
                   {"dual_pipe", PipelineKind::dual_pipe}});
  reader.optional("virtual_stages", plan.virtual_stages, "Chunks of layers of each stage (interleaved)", {1, 1024});
  reader.optional("overlap_pipeline", plan.overlap_pipeline, "Activations are sent beside computing");
}

void read_data(ObjectReader& reader, ParallelPlan& plan) {
  reader.optional("sharding", plan.sharding,
                  "What copies share out: none (DDP), optimizer (ZeRO-1, distributed optimizer), gradients (ZeRO-2), "
                  "parameters (ZeRO-3, FSDP)",
                  {{"none", Sharding::none},
                   {"optimizer", Sharding::optimizer},
                   {"gradients", Sharding::gradients},
                   {"parameters", Sharding::parameters}});
  reader.optional("shard_group", plan.shard_group, "GPUs among which one copy is shared out; 0: all", {0, kMostRanks});
  reader.optional("bucket", plan.bucket, "Of gradients that are reduced at once", {Bytes{1}});
  reader.optional("gradient_bytes", plan.gradient_bytes, "Of a gradient that is reduced: 2 or 4", {2, 4});
  if (plan.gradient_bytes == 3) {
    reader.problem("gradient_bytes", "out-of-range", "a gradient has 2 or 4 bytes, not 3", "choose one of the two");
  }
  reader.optional("prefetch", plan.prefetch, "Layers whose parameters are gathered ahead", {0, 1024});
  reader.optional(
      "shard_calls", plan.shard_calls,
      "Calls in which a layer's parameters are gathered and its gradients reduced (sharding gradients, parameters)",
      {1, 1024});
  reader.optional("gather_again", plan.gather_again,
                  "Parameters are gathered for recomputing, and once more for backward (sharding parameters); for each "
                  "micro-batch, not once a step (sharding gradients: FSDP's SHARD_GRAD_OP)");
  reader.optional("host_per_rank", plan.host_per_rank,
                  "What the host takes before each such call, for each of its ranks");
  reader.optional("overlap_gradients", plan.overlap_gradients, "Gradients are reduced beside backward");
  reader.optional("overlap_parameters", plan.overlap_parameters, "Parameters are gathered beside forward");
  reader.optional("single_process", plan.single_process,
                  "As PyTorch's DataParallel: GPU 0 sends parameters to the others, collects outputs and gradients");
}

void read_plan(ObjectReader& reader, TrainingText& text) {
  ParallelPlan& plan = text.plan;
  read_degrees(reader, text);
  read_pipeline(reader, plan);
  read_data(reader, plan);
  reader.optional("sequence_parallel", plan.sequence_parallel,
                  "Tensor ranks share what stands between their layers, too (Megatron-LM)");
  reader.optional("overlap_tensor", plan.overlap_tensor,
                  "Tensor ranks communicate in pieces beside the products that need it");
  reader.optional("recompute", plan.recompute, "What is computed again instead of kept: none, selective, full",
                  {{"none", Recompute::none}, {"selective", Recompute::selective}, {"full", Recompute::full}});
  reader.optional("recompute_layers", plan.recompute_layers, "Full: so many of each stage's chunk; 0: all", {0, 4096});
  if (plan.recompute_layers > 0 && plan.recompute != Recompute::full) {
    reader.problem("recompute_layers", "conflict", "only full recomputation goes by layers",
                   R"(write "recompute": "full", or leave it out)");
  }
  reader.optional("fused_attention", plan.fused_attention, "FlashAttention and its kin; else scores are made and kept");
  reader.optional("fused_loss", plan.fused_loss, "Logits are read once, and overwritten by their gradients");
  reader.optional("dropout", plan.dropout, "Masks are made and kept");
  const bool alone = plan.tensor == 1 && plan.context == 1 && plan.pipeline == 1 && plan.expert == 1 &&
                     plan.sharding == Sharding::none && !plan.overlap_gradients;
  if (plan.single_process && !alone) {
    reader.problem("single_process", "conflict",
                   "one process has all copies of the whole model, and adds gradients up when all are there",
                   "leave out other degrees than \"data\", \"sharding\" and \"overlap_gradients\"");
  }
  reader.optional("layers", text.layers, "Of each chunk in the order of the model; absent: spread evenly", {0, 65536});
}

void read(ObjectReader& reader, ReadingContext& context, TrainingText& text) {
  reader.required_value("model", "What is trained: a name of `athanor list models`, a file, or its figures",
                        [&](ValueReader& value) {
                          read_model(value, context.library, context.directory, context.problems, text.model);
                          if (text.model.plan) {
                            text.plan = *text.model.plan;
                            if (text.plan.data > 1) { text.data = text.plan.data; }
                          }
                        });
  ParallelPlan& plan = text.plan;
  reader.optional("micro_batch", plan.micro_batch, "Sequences that go through the model at once", {1, 65536});
  reader.optional("global_batch", plan.global_batch, "Sequences of a step, of all copies", {1, 1'000'000'000});
  reader.optional("sequence", plan.sequence, "Tokens of a sequence", {1, 100'000'000});
  reader.optional("precision", plan.precision, "In which matrices are multiplied",
                  {{"fp32", Precision::fp32},
                   {"tf32", Precision::tf32},
                   {"fp16", Precision::fp16},
                   {"bf16", Precision::bf16},
                   {"fp8", Precision::fp8},
                   {"fp4", Precision::fp4}});
  reader.optional_object("parallel", "How it is spread over GPUs",
                         [&](ObjectReader& inner) { read_plan(inner, text); });
  reader.optional_value("compute", "How fast GPUs compute: a name of `athanor list compute`, or the figures",
                        [&](ValueReader& value) {
                          ComputeProfile profile;
                          read_compute_profile(value, context.library, context.problems, profile);
                          if (value.ok() && !value.describing()) { text.compute = profile; }
                        });
  reader.optional("gpu", text.gpu, "Whose peak counts: a preset; absent: that of the nodes");
  Ratio imbalance{1, 1};
  reader.optional("expert_imbalance", imbalance,
                  "How many tokens the busiest expert rank gets per token of the average", {{1, 1}, {1000, 1}});
  text.expert_imbalance = to_double(imbalance);
  reader.optional("strict", text.strict, "A model that does not fit into memory is an error");
  reader.optional("measured", text.measured, "What a step took on such a machine", {Time{1}});
  reader.optional_object("costs", "What the machine draws and costs",
                         [&](ObjectReader& inner) { read_costs(inner, text.costs); });
  reader.optional("max_error", text.max_error, "`athanor verify` fails above this |simulated / measured - 1|",
                  {{0, 1}, {100, 1}});
  reader.optional("max_median_error", text.max_median_error,
                  "The same for its median over all measured steps of the scenario", {{0, 1}, {100, 1}});
}

/// From a text to what can be simulated; what is in the way becomes problems.
class Resolution {
 public:
  Resolution(ObjectReader& reader, ReadingContext& context, const Case& scenario_case, TrainingText& text)
      : reader_(reader), context_(context), case_(scenario_case), text_(text) {}

  std::shared_ptr<const Training> resolve() {
    auto training = std::make_shared<Training>();
    const bool plan_fits = fit_ranks() && fit_batch() && fit_model() && fit_layers(training->setup);
    if (!plan_fits && !context_.changes.open_plan) { return nullptr; }
    if (!find_gpu(*training) || !find_compute(*training)) { return nullptr; }
    training->setup.model = text_.model.model;
    training->setup.plan = text_.plan;
    training->setup.expert_imbalance = text_.expert_imbalance;
    training->measured = text_.measured;
    training->costs = completed(text_.costs, training->setup.gpu);
    training->max_error = text_.max_error;
    training->max_median_error = text_.max_median_error;
    if (!text_.measured && (text_.max_error || text_.max_median_error)) {
      problem("nothing-to-verify", "an error is allowed, but no step was measured",
              R"(say what a step took: "measured": "10s")");
      return nullptr;
    }
    if (plan_fits && !fit_memory(*training) && !context_.changes.open_plan) { return nullptr; }
    training->plan_fault = plan_fault_;
    for (const std::string& each : text_.model.ignored) { training->notes.push_back("ignored: " + each); }
    return training;
  }

 private:
  bool problem(std::string code, std::string message, std::string hint) {
    reader_.problem("training", std::move(code), std::move(message), std::move(hint));
    return false;
  }

  /// What is wrong with the plan itself.
  bool fault(std::string code, std::string message, std::string hint) {
    if (!context_.changes.open_plan) { return problem(std::move(code), std::move(message), std::move(hint)); }
    if (!plan_fault_) {
      plan_fault_ = {std::move(code), std::move(message), reader_.place("training"), std::move(hint)};
    }
    return false;
  }

  bool fit_ranks() {
    ParallelPlan& plan = text_.plan;
    const std::uint64_t endpoints = case_.cluster->endpoints.size();
    const std::uint64_t others = std::uint64_t{plan.tensor} * plan.context * plan.pipeline;
    if (others > endpoints || (!text_.data && endpoints % others != 0)) {
      return fault("degrees-do-not-divide",
                   fmt::format("tensor {} x context {} x pipeline {} = {} does not divide the {} endpoints of {}",
                               plan.tensor, plan.context, plan.pipeline, others, endpoints, case_.cluster->description),
                   "change a degree, or say how many copies there are: \"data\"");
    }
    plan.data = text_.data.value_or(static_cast<std::uint32_t>(endpoints / others));
    if (others * plan.data > endpoints) {
      return fault("too-many-ranks",
                   fmt::format("{} x data {} = {} ranks, but the cluster has {} endpoints", others, plan.data,
                               others * plan.data, endpoints),
                   "use smaller degrees or a larger cluster");
    }
    return true;
  }

  bool fit_batch() {
    const ParallelPlan& plan = text_.plan;
    const std::uint64_t at_once = std::uint64_t{plan.micro_batch} * plan.data;
    if (plan.global_batch >= at_once && plan.global_batch % at_once == 0) { return true; }
    return fault(
        "batch-does-not-divide",
        fmt::format("a global batch of {} is no multiple of micro_batch {} x data {} = {}", plan.global_batch,
                    plan.micro_batch, plan.data, at_once),
        fmt::format("write \"global_batch\": {}", std::max<std::uint64_t>(1, plan.global_batch / at_once) * at_once));
  }

  bool fit_model() {
    const TrainedModel& model = text_.model.model;
    if (!model.transformer) {
      if (text_.plan.tensor == 1 && text_.plan.context == 1 && text_.plan.expert == 1) { return true; }
      return fault("plan-does-not-fit", "a list of layers is not split over tensor, context or expert ranks",
                   "leave these degrees at 1");
    }
    if (text_.expert_imbalance > text_.plan.expert) {
      return fault(
          "out-of-range",
          fmt::format("an \"expert_imbalance\" of {:g}: the busiest of {} expert ranks gets at most {} times the "
                      "average",
                      text_.expert_imbalance, text_.plan.expert, text_.plan.expert),
          "make it smaller, or \"expert\" larger");
    }
    const std::vector<std::string> reasons = contradictions(*model.transformer, text_.plan);
    for (const std::string& reason : reasons) { fault("plan-does-not-fit", reason, "change the plan or the model"); }
    return reasons.empty();
  }

  bool fit_layers(TrainingSetup& setup) {
    if (text_.plan.schedule == PipelineKind::zb_v && text_.plan.virtual_stages == 1) { text_.plan.virtual_stages = 2; }
    PipelineSchedule schedule;
    try {
      schedule = schedule_of(text_.plan);
    } catch (const SimulationError& error) { return fault(error.code(), error.what(), ""); }
    const TrainedModel& model = text_.model.model;
    const std::uint32_t layers = layers_of(model);
    if (text_.layers.empty()) {
      if (most_places(model) < schedule.places()) {
        return fault("too-few-layers",
                     fmt::format("{} layers for {} places of the pipeline", layers, schedule.places()),
                     "use fewer stages or chunks");
      }
      setup.layers = layers_of_places(layers, schedule.places());
      return true;
    }
    std::uint64_t sum = 0;
    for (const std::uint32_t each : text_.layers) { sum += each; }
    if (text_.layers.size() != schedule.places() || sum != layers) {
      return fault("layers-do-not-fit",
                   fmt::format("\"layers\" names {} layers at {} places, and the model has {} for {} places", sum,
                               text_.layers.size(), layers, schedule.places()),
                   "name as many at each place, in the order of the model");
    }
    setup.layers = text_.layers;
    return true;
  }

  /// Those that the scenario names, else those of the nodes; of unequal ones the fastest first.
  bool find_gpu(Training& training) {
    ClusterGpus gpus{{text_.gpu}, {}};
    if (text_.gpu.empty()) { gpus = gpus_of(*case_.cluster_text, *case_.cluster, context_.library); }
    if (gpus.names.empty() || std::count(gpus.names.begin(), gpus.names.end(), "") > 0) {
      return problem("no-gpu", "nothing says which GPUs these are", "name a preset: \"gpu\": \"H100-SXM-80GB\"");
    }
    std::vector<GpuKind> kinds;
    try {
      for (const std::string& name : gpus.names) {
        kinds.push_back({find_gpu_rates(name, context_.library, reader_.place("training")), {}});
        peak_of(kinds.back().gpu, text_.plan.precision);
      }
    } catch (const ScenarioError& error) {
      for (const Problem& each : error.problems()) { context_.problems.add(each); }
      return false;
    } catch (const SimulationError& error) { return problem(error.code(), error.what(), "choose another precision"); }
    take_kinds(std::move(kinds), gpus.of_endpoint, training);
    return true;
  }

  void take_kinds(std::vector<GpuKind> kinds, const std::vector<std::uint32_t>& of_endpoint, Training& training) {
    std::vector<std::uint32_t> order(kinds.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto peak = [&](std::uint32_t kind) { return peak_of(kinds[kind].gpu, text_.plan.precision); };
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return peak(a) > peak(b); });
    TrainingSetup& setup = training.setup;
    setup.gpu = kinds[order.front()].gpu;
    if (kinds.size() == 1) { return; }
    std::vector<std::uint32_t> place(kinds.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) { place[order[i]] = i; }
    for (std::size_t i = 1; i < order.size(); ++i) { setup.others.push_back(kinds[order[i]]); }
    for (const std::uint32_t kind : of_endpoint) { setup.kind_of_rank.push_back(place[kind]); }
    training.notes.push_back(fmt::format(
        "unequal GPUs: {} and {} more {}; each computes at its own speed, and the ranks of a pipeline stage "
        "wait for the slowest of them",
        setup.gpu.name, setup.others.size(), setup.others.size() == 1 ? "kind" : "kinds"));
  }

  bool find_compute(Training& training) {
    TrainingSetup& setup = training.setup;
    if (!find_compute(setup.gpu, setup.compute, training)) { return false; }
    return std::all_of(setup.others.begin(), setup.others.end(),
                       [&](GpuKind& other) { return find_compute(other.gpu, other.compute, training); });
  }

  bool find_compute(const GpuRates& gpu, ComputeProfile& profile, Training& training) {
    const std::optional<ComputeProfile> found =
        text_.compute ? text_.compute
                      : fitted_profile(gpu.name, text_.plan.precision, context_.library, context_.problems);
    if (!found) {
      return problem("no-compute-profile", fmt::format("no compute profile was fitted on {}", gpu.name),
                     "name one: \"compute\" (see athanor list compute)");
    }
    profile = *found;
    if (!profile.covers(gpu.name, text_.plan.precision)) {
      training.notes.push_back(fmt::format("extrapolated: the compute profile {} was not fitted on {} of {}",
                                           profile.name, name(text_.plan.precision), gpu.name));
    }
    return true;
  }

  /// What does not fit is an error where the user says so, and told otherwise, with what would make it fit.
  bool fit_memory(Training& training) {
    const TrainedModel& model = training.setup.model;
    const ParallelPlan& plan = training.setup.plan;
    training.memory = model.transformer ? fullest_stage(*model.transformer, plan, training.setup.layers).use
                                        : memory_of(model.layers, plan);
    const GpuRates& smallest = smallest_gpu(training.setup);
    const double room = smallest.memory;
    if (room == 0 || training.memory.total() <= room) { return true; }
    const std::string message = memory_shortage(training.memory.total(), smallest, text_.measured.has_value());
    if (text_.measured) {
      training.notes.push_back(message);
      return true;
    }
    std::vector<std::string> hints;
    if (model.transformer) {
      for (const MemoryAdvice& each : memory_advice(*model.transformer, plan, training.setup.layers, room)) {
        if (hints.size() < 3) { hints.push_back(fmt::format("{} ({:.1f} GB)", each.change, each.use.total() * 1e-9)); }
      }
    }
    const std::string hint =
        hints.empty() ? "use more GPUs or a smaller micro_batch" : fmt::format("{}", fmt::join(hints, "; "));
    training.fits = false;
    if (text_.strict) { return fault("out-of-memory", message, hint); }
    training.notes.push_back(fmt::format("{}; would help: {}", message, hint));
    return true;
  }

  ObjectReader& reader_;
  ReadingContext& context_;
  const Case& case_;
  TrainingText& text_;
  std::optional<Problem> plan_fault_;
};

}  // namespace

void read_training(ObjectReader& reader, ReadingContext& context, Case& scenario_case) {
  TrainingText text;
  bool found = false;
  reader.optional_object("training", "What is simulated in place of a collective: a step of training",
                         [&](ObjectReader& inner) {
                           read(inner, context, text);
                           found = true;
                         });
  if (reader.describing() || !found || !reader.ok() || !scenario_case.cluster) { return; }
  scenario_case.training = Resolution(reader, context, scenario_case, text).resolve();
  if (!scenario_case.training) { return; }
  const bool fits = !scenario_case.training->plan_fault;
  scenario_case.ranks = fits ? scenario_case.training->setup.plan.ranks()
                             : static_cast<std::uint32_t>(scenario_case.cluster->endpoints.size());
  scenario_case.sizes = {Bytes::zero()};  // one run
}

}  // namespace athanor
