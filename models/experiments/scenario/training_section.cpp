#include "models/experiments/scenario/training_section.hpp"

#include <fmt/core.h>

#include "models/experiments/scenario/compression_section.hpp"
#include "models/experiments/scenario/compute_profile_section.hpp"
#include "models/experiments/scenario/costs_section.hpp"
#include "models/experiments/scenario/experiment_reader.hpp"
#include "models/experiments/scenario/expert_fields.hpp"
#include "models/experiments/scenario/framework_section.hpp"
#include "models/experiments/scenario/idle_settings.hpp"
#include "models/experiments/scenario/plan_names.hpp"
#include "models/experiments/scenario/resolve_training.hpp"
#include "models/experiments/training.hpp"
#include "models/training/step/rank_grid.hpp"
#include "sim/error.hpp"
#include "sim/words.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

constexpr std::uint32_t kMostRanks = 1'000'000;

void read_degrees(Fields& fields, TrainingConfig& config) {
  ParallelPlan& plan = config.plan;
  fields.optional("tensor", plan.tensor, "GPUs that share every layer", {1, kMostRanks});
  fields.optional("context", plan.context, "GPUs that share every sequence", {1, kMostRanks});
  fields.optional("pipeline", plan.pipeline, "Stages that share the layers", {1, kMostRanks});
  fields.optional("data", config.data,
                  "Copies, each with batches of its own; absent: as many as the cluster has room for", {1, kMostRanks});
  fields.optional("expert", plan.expert, "GPUs, of those that otherwise hold copies, that share the experts",
                  {1, kMostRanks});
  fields.optional("expert_tensor", plan.expert_tensor, "GPUs that share every expert: 1, or as `tensor`",
                  {1, kMostRanks});
  fields.optional_value("order", "Which of these varies fastest over ranks", [&](FieldValue& value) {
    value.visit(plan.order);
    if (value.ok() && !is_rank_order(plan.order)) {
      value.problem("wrong-order", fmt::format("'{}' does not name each of tp, cp, ep, dp and pp once", plan.order),
                    R"(write it as "tp-cp-ep-dp-pp")");
    }
  });
}

/// Also what of the keys below the scenario says itself.
void read_framework(Fields& fields, ReadingContext& context, TrainingConfig& config) {
  fields.optional_value(
      "framework", "Whose defaults keys have that are absent: a name of `athanor list frameworks`",
      [&](FieldValue& value) { read_framework(value, context.library, context.problems, config.framework); });
  if (fields.has("framework") && config.model.plan) {
    fields.problem("framework", "conflict", "Megatron-LM's arguments say already what it does",
                   "leave it out, or describe the model by its sizes");
  }
  const PlanDefaults none;
  for_each_default(none, config.plan, [&](const char* key, const auto& /*value*/, const auto& /*setting*/) {
    if (fields.has(key)) { config.framework.told.insert(key); }
  });
}

void read_pipeline(Fields& fields, TrainingConfig& config) {
  ParallelPlan& plan = config.plan;
  fields.optional("virtual_stages", plan.virtual_stages, "Chunks of layers of each stage (interleaved)", {1, 1024});
  settle(config.framework, plan);
  fields.optional("schedule", plan.schedule, "In which order micro-batches go through the stages",
                  names_of(plan.schedule));
  fields.optional("overlap_pipeline", plan.overlap_pipeline, "Activations are sent beside computing");
}

/// Where a framework counts copies, which are not known yet, it is not written as a default: it follows from these.
void read_bucket(Fields& fields, TrainingConfig& config) {
  const bool follows = config.framework.decides("bucket") && !config.data;
  std::optional<Bytes> bucket;
  if (!follows) { bucket = config.plan.bucket; }
  fields.optional("bucket", bucket, "Of gradients that are reduced at once", {Bytes{1}});
  if (bucket) { config.plan.bucket = *bucket; }
}

/// What the optimizer keeps, and in which precision parameters are kept.
void read_optimizer(Fields& fields, ParallelPlan& plan) {
  fields.optional("master_bytes", plan.master_bytes,
                  "Of the optimizer's copy of a parameter: 4 (fp32), 2 (what bf16 lacks of it), 0 (none)", {0, 4});
  fields.optional(
      "optimizer", plan.optimizer,
      "adam, sgd, sgd_momentum, adafactor (rows and columns), muon (matrices of layers, else Adam), adam_8bit "
      "(bitsandbytes)",
      names_of(plan.optimizer));
  fields.optional("moment_bytes", plan.moment_bytes, "Of each of Adam's two moments, or of momentum: 4, 2 or 1",
                  {1, 4});
  if (plan.master_bytes % 2 != 0) {
    fields.problem("master_bytes", "out-of-range",
                   fmt::format("a master copy has 4, 2 or no bytes, not {}", plan.master_bytes), "choose one of these");
  }
  if (plan.moment_bytes == 3) {
    fields.problem("moment_bytes", "out-of-range", "a moment has 4, 2 or 1 bytes, not 3", "choose one of these");
  }
  fields.optional("fp8_parameters", plan.fp8_parameters,
                  "Parameters of layers are kept and gathered in fp8, where matrices are multiplied in it");
}

/// Adapters beside a frozen model.
void read_lora(Fields& fields, ParallelPlan& plan) {
  std::optional<Lora> lora;
  if (plan.freezes()) { lora = plan.lora; }
  fields.optional_object(
      "lora", lora, "Low-rank adapters alone are trained, the model beside them is frozen",
      [](Fields& inner, Lora& read) {
        std::vector<LoraTarget> targets = read.targets.list();
        inner.required("rank", read.rank, "Elements between the two matrices of an adapter", {1, 65536});
        inner.optional("targets", targets, "Matrices that have adapters: query, key, value, output, gate, up, down",
                       names_of(LoraTarget::query));
        inner.optional("base_precision", read.base,
                       "In what frozen matrices of layers are kept: wide (as they are multiplied), nf4 (QLoRA)",
                       names_of(read.base));
        read.targets = LoraTargets(targets);
        if (read.targets.list().size() < targets.size()) {
          inner.problem("targets", "duplicate-name", "a matrix stands twice", "name each once");
        }
      });
  if (lora) { plan.lora = *lora; }
}

void read_data(Fields& fields, TrainingConfig& config) {
  ParallelPlan& plan = config.plan;
  fields.optional("sharding", plan.sharding,
                  "What copies share out: none (DDP), optimizer (ZeRO-1, distributed optimizer), gradients (ZeRO-2), "
                  "parameters (ZeRO-3, FSDP)",
                  names_of(plan.sharding));
  fields.optional("shard_group", plan.shard_group, "GPUs among which one copy is shared out; 0: all", {0, kMostRanks});
  read_bucket(fields, config);
  fields.optional("gradient_bytes", plan.gradient_bytes, "Of a gradient that is reduced: 2 or 4", {2, 4});
  if (plan.gradient_bytes == 3) {
    fields.problem("gradient_bytes", "out-of-range", "a gradient has 2 or 4 bytes, not 3", "choose one of the two");
  }
  fields.optional("reduce_every", plan.reduce_every,
                  "Micro-batches whose gradients are added up before they are reduced (sharding gradients, parameters)",
                  {1, 65536});
  read_optimizer(fields, plan);
  read_lora(fields, plan);
  read_compression(fields, plan.compression);
  fields.optional("prefetch", plan.prefetch, "Layers whose parameters are gathered ahead", {0, 1024});
  fields.optional(
      "shard_calls", plan.shard_calls,
      "Calls in which a layer's parameters are gathered and its gradients reduced (sharding gradients, parameters)",
      {1, 1024});
  fields.optional("gather_again", plan.gather_again,
                  "Parameters are gathered for recomputing, and once more for backward (sharding parameters); for each "
                  "micro-batch, not once a step (sharding gradients: FSDP's SHARD_GRAD_OP)");
  fields.optional("host_per_rank", plan.host_per_rank,
                  "What the host takes before each such call, for each of its ranks");
  fields.optional("overlap_gradients", plan.overlap_gradients, "Gradients are reduced beside backward");
  fields.optional("overlap_parameters", plan.overlap_parameters, "Parameters are gathered beside forward");
  fields.optional("single_process", plan.single_process,
                  "As PyTorch's DataParallel: GPU 0 sends parameters to the others, collects outputs and gradients");
}

/// Where activations are not simply kept.
void read_recompute(Fields& fields, ParallelPlan& plan) {
  fields.optional("recompute", plan.recompute, "What is computed again instead of kept: none, selective, full",
                  names_of(plan.recompute));
  std::vector<RecomputeModule> modules;
  if (plan.recompute == Recompute::selective) { modules = plan.recompute_modules.list(); }
  fields.optional("recompute_modules", modules, "Selective: which parts of a layer, by Megatron Core's names",
                  names_of(RecomputeModule::core_attn));
  if (plan.recompute != Recompute::selective && fields.has("recompute_modules")) {
    fields.problem("recompute_modules", "conflict", "only selective recomputation goes by modules",
                   R"(write "recompute": "selective", or leave it out)");
  }
  if (!modules.empty()) { plan.recompute_modules = RecomputeModules(modules); }
  fields.optional("recompute_layers", plan.recompute_layers, "Full: so many of each stage's chunk; 0: all", {0, 4096});
  if (plan.recompute_layers > 0 && plan.recompute != Recompute::full) {
    fields.problem("recompute_layers", "conflict", "only full recomputation goes by layers",
                   R"(write "recompute": "full", or leave it out)");
  }
  fields.optional("offload_layers", plan.offload_layers,
                  "So many layers of each chunk keep their activations in the host's memory", {0, 4096});
}

/// What a framework's defaults have of these is told, too: nobody need have written them.
void check_one_process(Fields& fields, const ParallelPlan& plan) {
  if (!plan.single_process) { return; }
  std::vector<std::string> others;
  const auto add = [&](bool set, const char* needed) {
    if (set) { others.emplace_back(needed); }
  };
  add(plan.tensor > 1, R"("tensor": 1)");
  add(plan.context > 1, R"("context": 1)");
  add(plan.pipeline > 1, R"("pipeline": 1)");
  add(plan.expert > 1, R"("expert": 1)");
  add(plan.sharding != Sharding::none, R"("sharding": "none")");
  add(plan.overlap_gradients, R"("overlap_gradients": false)");
  if (others.empty()) { return; }
  fields.problem("single_process", "conflict",
                 "one process has all copies of the whole model, and adds gradients up when all are there",
                 "write " + joined(others, ", "));
}

void read_plan(Fields& fields, ReadingContext& context, TrainingConfig& config) {
  ParallelPlan& plan = config.plan;
  read_framework(fields, context, config);
  read_degrees(fields, config);
  read_pipeline(fields, config);
  read_data(fields, config);
  fields.optional("sequence_parallel", plan.sequence_parallel,
                  "Tensor ranks share what stands between their layers, too (Megatron-LM)");
  fields.optional("overlap_tensor", plan.overlap_tensor,
                  "Tensor ranks communicate in pieces beside the products that need it");
  read_recompute(fields, plan);
  fields.optional_object("experts", "How tokens get to experts and back",
                         [&](Fields& inner) { athanor::visit(inner, plan.experts); });
  fields.optional("overlap_experts", plan.overlap_experts,
                  "Tokens of one micro-batch are exchanged beside the computing of another (1f1b, interleaved)");
  fields.optional("fused_attention", plan.fused_attention, "FlashAttention and its kin; else scores are made and kept");
  fields.optional("fused_loss", plan.fused_loss, "Logits are read once, and overwritten by their gradients");
  fields.optional("dropout", plan.dropout, "Masks are made and kept");
  fields.optional("execution", plan.execution,
                  "How operators come to the GPU: eager (PyTorch's own), fused (Transformer Engine), compiled, "
                  "cuda_graphs (no dispatch)",
                  names_of(plan.execution));
  fields.optional(
      "autocast", plan.autocast,
      "Parameters of 4 bytes, cast to 16 bits for every micro-batch, as are their gradients (PyTorch's AMP)");
  fields.optional("fp8_recipe", plan.fp8_recipe,
                  "By what numbers are scaled that become fp8: delayed or current (whole tensors), blockwise (128), "
                  "mxfp8 (32)",
                  names_of(plan.fp8_recipe));
  check_one_process(fields, plan);
  for (const std::string& key : keys_that_may_be_idle()) {
    if (fields.has(key)) { config.written.insert(key); }
  }
  fields.optional("layers", config.layers, "Of each chunk in the order of the model; absent: spread evenly",
                  {0, 65536});
  read_uneven_shares(fields, plan, config.mixed, !config.layers.empty());
}

/// What a step took on a real machine, and what that draws and costs.
void read_reality(Fields& fields, TrainingConfig& config) {
  fields.optional("measured", config.measured, "What a step took on such a machine", {Time{1}});
  fields.optional_object("measured_with", "What `measured` was measured with", [&](Fields& inner) {
    inner.optional("software", config.measured_with.software,
                   "Steps of one software have in common what no GPU, precision or model says; absent: of its own");
    inner.optional("framework", config.measured_with.framework, "That the software is of, as \"nemo\"");
    inner.optional("release", config.measured_with.release, "Of the software");
  });
  fields.optional_object("costs", "What the machine draws and costs",
                         [&](Fields& inner) { read_costs(inner, config.costs); });
  fields.optional("max_error", config.max_error, "`athanor verify` fails above this |simulated / measured - 1|",
                  {{0, 1}, {100, 1}});
  fields.optional("max_median_error", config.max_median_error,
                  "The same for its median over all measured steps of the scenario", {{0, 1}, {100, 1}});
}

}  // namespace

void visit(Fields& fields, ReadingContext& context, TrainingConfig& config) {
  fields.required_value("model", "What is trained: a name of `athanor list models`, a file, or its figures",
                        [&](FieldValue& value) {
                          read_model(value, context.library, context.files, context.problems, config.model);
                          if (config.model.plan) {
                            config.plan = *config.model.plan;
                            if (config.plan.data > 1) { config.data = config.plan.data; }
                          }
                        });
  ParallelPlan& plan = config.plan;
  fields.optional("micro_batch", plan.micro_batch, "Sequences that go through the model at once", {1, 65536});
  fields.optional("global_batch", plan.global_batch, "Sequences of a step, of all copies", {1, 1'000'000'000});
  fields.optional("sequence", plan.sequence, "Tokens of a sequence", {1, 100'000'000});
  fields.optional("precision", plan.precision, "In which matrices are multiplied",
                  {{"fp32", Precision::fp32},
                   {"tf32", Precision::tf32},
                   {"fp16", Precision::fp16},
                   {"bf16", Precision::bf16},
                   {"fp8", Precision::fp8},
                   {"fp4", Precision::fp4}});
  fields.optional_object("parallel", "How it is spread over GPUs",
                         [&](Fields& inner) { read_plan(inner, context, config); });
  fields.optional_value("compute", "How fast GPUs compute: a name of `athanor list compute`, a file, or the figures",
                        [&](FieldValue& value) {
                          read_compute_profile(value, context.files, context.library, context.problems,
                                               config.compute.emplace());
                        });
  fields.optional("launch", config.launch,
                  "What these hosts take to dispatch a kernel; absent: as the compute profile says");
  if (config.launch && plan.execution == ExecutionMode::cuda_graphs) {
    fields.problem("launch", "no-effect", "hosts do not dispatch what CUDA graphs recorded",
                   R"(leave it out, or write another "execution")");
  }
  optional_device(fields, "gpu", "Whose peak counts: a preset, one with changes, or a GPU in full; absent: the nodes'",
                  config.gpu);
  Ratio imbalance{1, 1};
  fields.optional("expert_imbalance", imbalance,
                  "How many tokens the busiest expert rank gets per token of the average", {{1, 1}, {1000, 1}});
  plan.expert_imbalance = to_double(imbalance);
  if (imbalance != Ratio{1, 1} && plan.experts.changes_loads()) {
    fields.problem("expert_imbalance", "conflict",
                   "\"experts\" says how busy they are, and that says it of the busiest", "leave out one of them");
  } else if (imbalance != Ratio{1, 1} && plan.experts.kind != ExchangeKind::pairwise) {
    fields.problem("expert_imbalance", "conflict",
                   fmt::format("exchanges of {} follow from how busy each expert is, not from the busiest rank alone",
                               name(plan.experts.kind)),
                   R"(write "zipf" or "loads" of "experts" in its place)");
  }
  fields.optional("strict", config.strict, "A model that does not fit into memory is an error");
  config.place = fields.place();
}

namespace {

class TrainingReader : public ExperimentReader {
 public:
  void visit(Fields& section, ReadingContext& context) override {
    athanor::visit(section, context, config_);
    read_stragglers(section, config_.mixed);
    read_reality(section, config_);
  }
  void fit(CaseParts& parts) override {
    training_ =
        resolve_training(parts.context, *parts.scenario_case.cluster_config, *parts.platform().cluster, config_);
  }

  std::shared_ptr<const Experiment> make(CaseParts& parts) override {
    const std::size_t endpoints = parts.platform().cluster->endpoints.size();
    const std::uint32_t ranks =
        training_->plan_fault ? static_cast<std::uint32_t>(endpoints) : training_->setup.plan.ranks();
    std::optional<WorkloadNccl> nccl = prepare_workload(ranks, parts);
    if (!nccl) { return nullptr; }
    return std::make_shared<const TrainingExperiment>(training_, ranks, std::move(*nccl));
  }

 private:
  TrainingConfig config_;
  std::shared_ptr<const Training> training_;
};

}  // namespace

std::unique_ptr<ExperimentReader> training_reader() { return std::make_unique<TrainingReader>(); }

}  // namespace athanor
