#include "models/experiments/scenario/resolve_training.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

#include "models/experiments/scenario/compression_section.hpp"
#include "models/experiments/scenario/compute_profile_section.hpp"
#include "models/experiments/scenario/costs_section.hpp"
#include "models/experiments/scenario/experiment_reader.hpp"
#include "models/experiments/scenario/idle_settings.hpp"
#include "models/experiments/scenario/training_gpus.hpp"
#include "models/experiments/scenario/training_notes.hpp"
#include "models/experiments/training.hpp"
#include "models/software/profile.hpp"
#include "models/training/compression_faults.hpp"
#include "models/training/expert_ranks.hpp"
#include "models/training/parameter_share.hpp"
#include "sim/error.hpp"
#include "sim/words.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

class Resolution {
 public:
  Resolution(ReadingContext& context, const ClusterConfig& described, const Cluster& cluster, TrainingConfig& config)
      : context_(context), described_(described), cluster_(cluster), config_(config) {}

  std::shared_ptr<const Training> resolve() {
    auto training = std::make_shared<Training>();
    leave_shares_to_search();
    const bool plan_fits = fit_ranks() && fit_batch() && fit_model() && fit_layers(training->setup);
    if (!plan_fits && !context_.changes.open_plan) { return nullptr; }
    if (!find_gpu(*training) || !find_compute(*training)) { return nullptr; }
    training->setup.model = config_.model.model;
    training->setup.plan = config_.plan;
    training->setup.framework = config_.framework;
    if (!take_slow_gpus(*training)) { return nullptr; }
    if (plan_fits && !take_shares(*training) && !context_.changes.open_plan) { return nullptr; }
    training->measured = config_.measured;
    training->measured_with = config_.measured_with;
    training->costs = completed(config_.costs, training->setup);
    training->max_error = config_.max_error;
    training->max_median_error = config_.max_median_error;
    if (!is_measured()) { return nullptr; }
    if (plan_fits && !fit_memory(*training) && !context_.changes.open_plan) { return nullptr; }
    training->plan_fault = plan_fault_;
    for (std::string& each : idle_settings(config_.plan, config_.written)) {
      training->notes.push_back(std::move(each));
    }
    note_vocabulary(config_.plan, *training);
    note_process(*training);
    const std::string experts = expert_note(config_.plan);
    if (!experts.empty()) { training->notes.push_back(experts); }
    for (const std::string& each : config_.model.ignored) { training->notes.push_back("ignored: " + each); }
    return training;
  }

 private:
  /// Where what follows from a measured step is said, it is, too.
  bool is_measured() {
    if (config_.measured) { return true; }
    constexpr const char* kHint = R"(say what a step took: "measured": "10s")";
    if (config_.max_error || config_.max_median_error) {
      return problem("nothing-to-verify", "an error is allowed, but no step was measured", kHint);
    }
    return config_.measured_with == MeasuredWith{} ||
           problem("nothing-measured", "it says what a step was measured with, but not what it took", kHint);
  }

  bool problem(std::string code, std::string message, std::string hint) {
    context_.problems.add({std::move(code), std::move(message), config_.place, std::move(hint)});
    return false;
  }

  /// A search divides layers and batches of its plans evenly.
  void leave_shares_to_search() {
    if (!context_.changes.open_plan) { return; }
    config_.plan.mixed = {};
    config_.mixed.balance = Balancing::none;
  }

  bool fits(const std::optional<MixedFault>& why_not) {
    return !why_not || fault(why_not->code, why_not->message, why_not->hint);
  }
  /// Of a search, all GPUs are at hand.
  bool take_slow_gpus(Training& training) {
    const auto all = static_cast<std::uint32_t>(cluster_.endpoints.size());
    const std::uint32_t ranks = context_.changes.open_plan ? all : config_.plan.ranks();
    const auto why_not = take_stragglers(config_.mixed, cluster_, ranks, training.setup, training.notes);
    return !why_not || problem(why_not->code, why_not->message, why_not->hint);
  }
  bool take_shares(Training& training) {
    if (!fits(take_balance(config_.mixed.balance, training.setup, training.notes))) { return false; }
    try {
      shape_of(training.setup);
    } catch (const SimulationError& error) { return fault(error.code(), error.what(), ""); }
    return true;
  }

  /// What is wrong with the plan itself.
  bool fault(std::string code, std::string message, std::string hint) {
    if (!context_.changes.open_plan) { return problem(std::move(code), std::move(message), std::move(hint)); }
    if (!plan_fault_) { plan_fault_ = {std::move(code), std::move(message), config_.place, std::move(hint)}; }
    return false;
  }

  bool fit_ranks() {
    ParallelPlan& plan = config_.plan;
    const std::uint64_t endpoints = cluster_.endpoints.size();
    const std::uint64_t others = std::uint64_t{plan.tensor} * plan.context * plan.pipeline;
    if (others > endpoints || (!config_.data && endpoints % others != 0)) {
      return fault("degrees-do-not-divide",
                   fmt::format("tensor {} x context {} x pipeline {} = {} does not divide the {} endpoints of {}",
                               plan.tensor, plan.context, plan.pipeline, others, endpoints, cluster_.description),
                   "change a degree, or say how many copies there are: \"data\"");
    }
    plan.data = config_.data.value_or(static_cast<std::uint32_t>(endpoints / others));
    if (others * plan.data > endpoints) {
      return fault("too-many-ranks",
                   fmt::format("{} x data {} = {} ranks, but the cluster has {} endpoints", others, plan.data,
                               others * plan.data, endpoints),
                   "use smaller degrees or a larger cluster");
    }
    settle_framework();
    settle_nodes(cluster_, config_.plan);
    return fit_process();
  }

  bool fit_process() {
    const std::uint32_t nodes = nodes_of(cluster_, config_.plan.ranks());
    if (!config_.plan.has_one_process() || nodes == 1) { return true; }
    return fault("conflict",
                 fmt::format("one process has the GPUs of one node, and these {} are on {}", config_.plan.data, nodes),
                 R"(leave "single_process" out, or say "data": as many as a node has)");
  }

  /// Once more, for copies are known now. What a list of layers has not is nothing that one asked for.
  void settle_framework() {
    settle(config_.framework, config_.plan);
    const bool only_attention = config_.plan.recompute == Recompute::selective && !config_.model.model.transformer;
    if (only_attention && config_.framework.decides("recompute")) { config_.plan.recompute = Recompute::none; }
  }

  bool fit_batch() {
    const ParallelPlan& plan = config_.plan;
    if (!fits(uneven_batch_fault(plan)) || !fits(balance_fault(plan, config_.mixed.balance))) { return false; }
    if (!plan.mixed.micro_batches.empty() || config_.mixed.balance == Balancing::batch) { return true; }
    const std::uint64_t at_once = std::uint64_t{plan.micro_batch} * plan.data;
    if (plan.global_batch >= at_once && plan.global_batch % at_once == 0) { return true; }
    return fault(
        "batch-does-not-divide",
        fmt::format("a global batch of {} is no multiple of micro_batch {} x data {} = {}", plan.global_batch,
                    plan.micro_batch, plan.data, at_once),
        fmt::format("write \"global_batch\": {}", std::max<std::uint64_t>(1, plan.global_batch / at_once) * at_once));
  }

  bool fit_model() {
    const TrainedModel& model = config_.model.model;
    const std::vector<std::string> faults = compression_faults(model, config_.plan);
    for (const std::string& each : faults) { fault("plan-does-not-fit", each, R"(change "compression")"); }
    if (!faults.empty()) { return false; }
    if (!model.transformer) {
      if (config_.plan.recompute == Recompute::selective) {
        return fault("no-effect", "selective recomputation is of attention, and a list of layers has none",
                     R"(write "recompute": "full" or "none")");
      }
      if (config_.plan.freezes()) {
        return fault("plan-does-not-fit",
                     "adapters stand beside matrices of a transformer, and this is a list of layers",
                     R"(leave "lora" out)");
      }
      if (needs_matrices(config_.plan.optimizer)) {
        return fault("plan-does-not-fit",
                     fmt::format("{} updates matrices, and a list of layers says nothing of theirs",
                                 name(config_.plan.optimizer)),
                     R"(write "optimizer": "adam", "sgd", "sgd_momentum" or "adam_8bit")");
      }
      if (config_.plan.offload_layers > 0) {
        return fault("no-effect", "activations are offloaded of a transformer's layers, and this is a list of others",
                     R"(leave "offload_layers" out)");
      }
      if (config_.plan.tensor == 1 && config_.plan.context == 1 && config_.plan.expert == 1) { return true; }
      return fault("plan-does-not-fit", "a list of layers is not split over tensor, context or expert ranks",
                   "leave these degrees at 1");
    }
    if (config_.plan.expert_imbalance > config_.plan.expert) {
      return fault(
          "out-of-range",
          fmt::format("an \"expert_imbalance\" of {:g}: the busiest of {} expert ranks gets at most {} times the "
                      "average",
                      config_.plan.expert_imbalance, config_.plan.expert, config_.plan.expert),
          "make it smaller, or \"expert\" larger");
    }
    const std::vector<std::string> reasons = contradictions(*model.transformer, config_.plan);
    for (const std::string& reason : reasons) { fault("plan-does-not-fit", reason, "change the plan or the model"); }
    return reasons.empty() && find_loads(*model.transformer);
  }

  bool find_loads(const Transformer& model) {
    if (!model.experts) { return true; }
    try {
      set_expert_loads(model, config_.plan);
    } catch (const SimulationError& error) { return fault(error.code(), error.what(), "change \"loads\""); }
    return true;
  }

  bool fit_layers(TrainingSetup& setup) {
    if (config_.plan.virtual_stages == 1) { config_.plan.virtual_stages = config_.plan.chunks(); }
    PipelineSchedule schedule;
    try {
      schedule = schedule_of(config_.plan);
    } catch (const SimulationError& error) { return fault(error.code(), error.what(), ""); }
    const TrainedModel& model = config_.model.model;
    const std::uint32_t layers = layers_of(model);
    if (config_.layers.empty()) {
      if (most_places(model) < schedule.places()) {
        return fault("too-few-layers",
                     fmt::format("{} layers for {} places of the pipeline", layers, schedule.places()),
                     "use fewer stages or chunks");
      }
      setup.layers = layers_of_places(layers, schedule.places());
      return true;
    }
    std::uint64_t sum = 0;
    for (const std::uint32_t each : config_.layers) { sum += each; }
    if (config_.layers.size() != schedule.places() || sum != layers) {
      return fault("layers-do-not-fit",
                   fmt::format("\"layers\" names {} layers at {} places, and the model has {} for {} places", sum,
                               config_.layers.size(), layers, schedule.places()),
                   "name as many at each place, in the order of the model");
    }
    setup.layers = config_.layers;
    return fits(idle_stage_fault(schedule, config_.layers));
  }

  /// Those that the scenario names, else those of the nodes; of unequal ones the fastest first.
  bool find_gpu(Training& training) {
    ClusterGpus gpus{{config_.gpu}, {}};
    if (!config_.gpu) { gpus = gpus_of(described_, cluster_, context_.library); }
    if (gpus.gpus.empty() || std::count(gpus.gpus.begin(), gpus.gpus.end(), std::nullopt) > 0) {
      return problem("no-gpu", "nothing says which GPUs these are", "name a preset: \"gpu\": \"H100-SXM-80GB\"");
    }
    std::vector<GpuKind> kinds;
    try {
      for (const std::optional<GpuConfig>& gpu : gpus.gpus) {
        kinds.push_back({find_gpu_rates(*gpu, context_.library), {}});
        peak_of(kinds.back().gpu, config_.plan.precision);
      }
    } catch (const ScenarioError& error) {
      for (const Problem& each : error.problems()) { context_.problems.add(each); }
      return false;
    } catch (const SimulationError& error) { return problem(error.code(), error.what(), "choose another precision"); }
    const bool limited =
        std::any_of(kinds.begin(), kinds.end(), [](const GpuKind& kind) { return kind.gpu.limited_from_w > 0; });
    if (limited && config_.costs.gpus.front().w) {
      return problem("conflict", "the \"power\" of the GPU and the \"gpu_w\" of \"costs\" say the same",
                     "leave out one of them");
    }
    if (!take_host_bandwidth(kinds)) { return false; }
    const bool multiplies = fit_recipe(kinds);
    take_kinds(std::move(kinds), gpus.of_endpoint, training);
    return multiplies;
  }

  /// Scales of 32 elements are multiplied by Blackwell, which also takes fp8 matrices in any order (Transformer Engine,
  /// is_non_tn_fp8_gemm_supported); Hopper sums along rows of both alone.
  bool fit_recipe(const std::vector<GpuKind>& kinds) {
    ParallelPlan& plan = config_.plan;
    if (plan.precision != Precision::fp8) { return true; }
    const auto older =
        std::find_if(kinds.begin(), kinds.end(), [](const GpuKind& kind) { return !kind.gpu.multiplies_in_blocks(); });
    plan.any_order = older == kinds.end();
    if (plan.any_order || plan.fp8_recipe != Fp8Recipe::mxfp8) { return true; }
    return problem("no-such-recipe",
                   fmt::format("GPU {} has no MXFP8: NVIDIA's have it from Blackwell on", older->gpu.name),
                   R"(write "fp8_recipe": "delayed", "current" or "blockwise")");
  }

  bool take_host_bandwidth(std::vector<GpuKind>& kinds) {
    if (config_.plan.offload_layers == 0 && !config_.plan.has_one_process()) { return true; }
    const double bandwidth = host_bandwidth(cluster_);
    if (bandwidth == 0 && config_.plan.offload_layers > 0) {
      return problem("no-host-link", "activations are offloaded, and nothing says how GPUs reach their hosts",
                     R"(leave "offload_layers" out, or describe nodes whose GPUs have PCIe)");
    }
    for (GpuKind& kind : kinds) { kind.gpu.host_bandwidth = bandwidth; }
    return true;
  }

  void take_kinds(std::vector<GpuKind> kinds, const std::vector<std::uint32_t>& of_endpoint, Training& training) {
    std::vector<std::uint32_t> order(kinds.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto peak = [&](std::uint32_t kind) { return peak_of(kinds[kind].gpu, config_.plan.precision); };
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return peak(a) > peak(b); });
    TrainingSetup& setup = training.setup;
    setup.gpu = kinds[order.front()].gpu;
    for (const GpuKind& kind : kinds) { note_limit(kind.gpu, training); }
    if (kinds.size() == 1) { return; }
    std::vector<std::uint32_t> place(kinds.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) { place[order[i]] = i; }
    for (std::size_t i = 1; i < order.size(); ++i) { setup.others.push_back(kinds[order[i]]); }
    for (const std::uint32_t kind : of_endpoint) { setup.kind_of_rank.push_back(place[kind]); }
    training.notes.push_back(
        fmt::format("unequal GPUs: {} and {} more {}; each computes at its own speed, and waits for others in "
                    "collectives",
                    setup.gpu.name, setup.others.size(), setup.others.size() == 1 ? "kind" : "kinds"));
  }

  bool find_compute(Training& training) {
    TrainingSetup& setup = training.setup;
    if (!find_compute(setup.gpu, setup.compute, training)) { return false; }
    return std::all_of(setup.others.begin(), setup.others.end(),
                       [&](GpuKind& other) { return find_compute(other.gpu, other.compute, training); });
  }

  bool find_compute(const GpuRates& gpu, ComputeProfile& profile, Training& training) {
    const auto pool = context_.pools.steps(context_.library);
    if (!config_.compute && !pool) {
      return problem("no-compute-profile", "the library has no pool that tells how fast GPUs compute",
                     "name a profile: \"compute\" (see athanor list compute)");
    }
    ComputeParts parts = compute_parts(gpu, config_.plan.precision, config_.model.model);
    if (config_.framework.framework) { parts.software = config_.framework.framework->measured_as; }
    profile = config_.compute ? *config_.compute : pooled_compute(*pool, parts);
    if (config_.launch) { profile.launch = *config_.launch; }
    if (profile.pooled ? !pool->knows(parts) || !gpu.as_preset
                       : !gpu.as_preset || !profile.covers(gpu.preset, config_.plan.precision)) {
      training.notes.push_back(fmt::format("extrapolated: the compute profile {} was not fitted on {} of {}",
                                           profile.name, name(config_.plan.precision), gpu.name));
    }
    if (!pool || (!profile.pooled && profile.fitted.gpus.empty())) { return true; }
    const bool software = profile.pooled && gpu.as_preset && pool->knows(parts) && pool->knows_software(parts);
    const StepError* error = pool->error_of(software ? StepKnowledge::models : knowledge_of(gpu, profile));
    if (error != nullptr && !training.expected_error) { training.expected_error = *error; }
    return true;
  }

  StepKnowledge knowledge_of(const GpuRates& gpu, const ComputeProfile& profile) const {
    if (profile.pooled || !gpu.as_preset || !profile.covers(gpu.preset, config_.plan.precision)) {
      return StepKnowledge::nothing;
    }
    if (profile.fitted.steps == 1) { return StepKnowledge::one_step; }
    const std::vector<std::string>& models = profile.fitted.models;
    const bool known = std::count(models.begin(), models.end(), config_.model.model.name) > 0;
    return known ? StepKnowledge::steps : StepKnowledge::models;
  }

  /// What does not fit is an error where the user says so, and told otherwise, with what would make it fit.
  bool fit_memory(Training& training) {
    const TrainedModel& model = training.setup.model;
    const ParallelPlan& plan = training.setup.plan;
    training.memory = model.transformer ? fullest_stage(*model.transformer, plan, training.setup.layers).use
                                        : memory_of_layers(model, plan);
    if (plan.has_one_process()) { training.others = memory_of_others(model, plan); }
    if (const auto fullest = context_.changes.open_plan ? std::nullopt : fullest_kind(training.setup)) {
      training.setup.fullest_kind = fullest->kind;
      training.memory = fullest->use;
    }
    const double room = fullest_gpu(training.setup).memory;
    if (room == 0 || training.memory.total() <= room) { return true; }
    const std::string message = memory_shortage(training.memory.total(), training.setup, config_.measured.has_value());
    if (config_.measured) {
      training.notes.push_back(message);
      return true;
    }
    std::vector<std::string> hints;
    if (model.transformer) {
      for (const MemoryAdvice& each : memory_advice(*model.transformer, plan, training.setup.layers, room)) {
        if (hints.size() < 3) { hints.push_back(fmt::format("{} ({:.1f} GB)", each.change, each.use.total() * 1e-9)); }
      }
    }
    const char* const otherwise = plan.has_one_process() ? "use a smaller micro_batch or a process for each GPU"
                                                         : "use more GPUs or a smaller micro_batch";
    const std::string hint = hints.empty() ? otherwise : fmt::format("{}", joined(hints, "; "));
    training.fits = false;
    if (config_.strict) { return fault("out-of-memory", message, hint); }
    training.notes.push_back(fmt::format("{}; would help: {}", message, hint));
    return true;
  }

  ReadingContext& context_;
  const ClusterConfig& described_;
  const Cluster& cluster_;
  TrainingConfig& config_;
  std::optional<Problem> plan_fault_;
};

}  // namespace

std::shared_ptr<const Training> resolve_training(ReadingContext& context, const ClusterConfig& described,
                                                 const Cluster& cluster, TrainingConfig& config) {
  return Resolution(context, described, cluster, config).resolve();
}

}  // namespace athanor
