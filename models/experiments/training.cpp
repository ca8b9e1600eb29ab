#include "models/experiments/training.hpp"

#include <fmt/core.h>

#include "models/experiments/collective.hpp"
#include "models/experiments/interval.hpp"
#include "models/experiments/mixed_columns.hpp"
#include "models/experiments/network_columns.hpp"
#include "models/experiments/scenario/framework_section.hpp"
#include "models/experiments/scenario/idle_settings.hpp"
#include "models/experiments/scenario/training_gpus.hpp"
#include "models/experiments/training_compression.hpp"
#include "models/experiments/workload_columns.hpp"
#include "models/software/profile.hpp"
#include "models/training/adapters.hpp"
#include "models/workload/work_of_workload.hpp"
#include "sim/words.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

constexpr Column kModel{
    .key = "model", .role = ColumnRole::subject, .shown = {.in_reports = Shown::Report::word}};  ///< by name
constexpr Column kGpu{"gpu"};                                                                    ///< preset of the GPUs
constexpr Column kGpus{.key = "gpus",
                       .role = ColumnRole::choice,
                       .shown = {.in_reports = Shown::Report::word, .report_head = "GPUs"}};  ///< how many
constexpr Column kPrecision{"precision"};           ///< of the products of matrices
constexpr Column kTensor{"tensor"};                 ///< GPUs that share each layer
constexpr Column kContext{"context"};               ///< GPUs that share every sequence
constexpr Column kPipeline{"pipeline"};             ///< stages
constexpr Column kData{"data"};                     ///< replicas
constexpr Column kExpert{"expert"};                 ///< GPUs that share experts
constexpr Column kSchedule{"schedule"};             ///< of the pipeline
constexpr Column kVirtualStages{"virtual_stages"};  ///< of each GPU
constexpr Column kSharding{"sharding"};    ///< what replicas share: `none`, `optimizer`, `gradients`, `parameters`
constexpr Column kOptimizer{"optimizer"};  ///< where it is not Adam
constexpr Column kLora{"lora"};            ///< with adapters: matrices that have them, as `query+value`
constexpr Column kLoraRank{"lora_rank"};   ///< ... elements between the two matrices of each
constexpr Column kBasePrecision{"base_precision"};          ///< ... in what frozen matrices are kept: `wide`, `nf4`
constexpr Column kTrainedParameters{"trained_parameters"};  ///< ... of all GPUs that hold one copy
constexpr Column kRecompute{"recompute"};                   ///< what backward computes again
constexpr Column kMicroBatch{"micro_batch"};                ///< sequences
constexpr Column kGlobalBatch{"global_batch"};              ///< sequences of a step
constexpr Column kSequence{"sequence"};                     ///< tokens
constexpr Column kFramework{"framework"};                   ///< whose defaults the plan has, where it names one
constexpr Column kAssumed{"assumed"};  ///< beside `framework`: an object of settings that are as it has them, and act
constexpr Column kCompute{
    .key = "compute", .role = ColumnRole::profile, .of = &kStepTime};  ///< compute profile of the GPUs
constexpr Column kSamples{.key = "samples_per_s",
                          .head = "samples",
                          .unit = "(1/s)",
                          .width = 12,
                          .role = ColumnRole::rate,
                          .of = &kStepTime,
                          .shown = {.in_sweeps = true,
                                    .in_reports = Shown::Report::figure,
                                    .axis = "Samples per second"}};  ///< sequences or samples
constexpr Column kTokens{.key = "tokens_per_s",
                         .head = "tokens",
                         .unit = "(1/s)",
                         .width = 12,
                         .role = ColumnRole::rate,
                         .of = &kStepTime,
                         .shown = {.in_sweeps = true,
                                   .in_reports = Shown::Report::figure,
                                   .report_head = "tokens/s",
                                   .decimals = 0,
                                   .axis = "Tokens per second"}};  ///< of transformers
constexpr Column kFlops{
    .key = "tflops_per_gpu",
    .head = "TFLOP/s",
    .unit = "per GPU",
    .width = 8,
    .format = Format::one_decimal,
    .role = ColumnRole::rate,
    .of = &kStepTime,
    .shown = {.in_reports = Shown::Report::figure, .axis = "TFLOP/s per GPU"}};  ///< the model's FLOP/s
constexpr Column kMfu{
    .key = "mfu",
    .head = "MFU",
    .unit = "(%)",
    .width = 6,
    .format = Format::percent,
    .role = ColumnRole::rate,
    .of = &kStepTime,
    .shown = {.in_sweeps = true,
              .in_database = true,
              .beside_time = true,
              .in_reports = Shown::Report::figure,
              .axis = "Model FLOP/s utilisation (%)"}};  ///< the model's FLOP/s as a share of the GPU's peak
constexpr Column kComputing{"", "computing", "(%)", 9, Format::percent};
constexpr Column kBubble{.key = "bubble_fraction",
                         .head = "bubble",
                         .unit = "(%)",
                         .width = 7,
                         .format = Format::percent,
                         .shown = {.in_sweeps = true,
                                   .in_reports = Shown::Report::figure,
                                   .axis = "Pipeline bubble (%)"}};  ///< share of the step that waits for other stages
constexpr Column kExposed{"", "exposed", "(%)", 7, Format::percent};
constexpr Column kStragglers{"", "straggler", "(%)", 9, Format::percent};
constexpr Column kMemory{.key = "memory_gb",
                         .head = "memory",
                         .unit = "(GB)",
                         .width = 7,
                         .format = Format::one_decimal,
                         .shown = {.in_sweeps = true,
                                   .in_reports = Shown::Report::figure,
                                   .axis = "Memory (GB)"}};  ///< of the fullest GPU; with `single_process` GPU 0
constexpr Column kMemoryOthers{"other_gpus_memory_gb"};      ///< with `single_process`: of each GPU but GPU 0
constexpr double kGigabyte = 1e-9;

std::string degrees(const ParallelPlan& plan) {
  std::vector<std::string> parts;
  const auto add = [&](const char* what, std::uint32_t degree) {
    if (degree > 1) { parts.push_back(fmt::format("{} {}", what, degree)); }
  };
  add("tensor", plan.tensor);
  add("context", plan.context);
  if (plan.pipeline > 1) { parts.push_back(fmt::format("pipeline {} ({})", plan.pipeline, name(plan.schedule))); }
  add("virtual stages", plan.virtual_stages);
  add("data", plan.data);
  if (plan.has_one_process()) { parts.back() += " in one process"; }
  add("expert", plan.expert);
  return parts.empty() ? "one GPU" : fmt::format("{}", joined(parts, ", "));
}

void put_adapters(const TrainingSetup& setup, Record& record) {
  const Lora& lora = setup.plan.lora;
  if (!setup.plan.freezes()) { return; }
  const double trained = trained_parameters(setup.model, setup.plan);
  record.put(kLora, text_of(lora.targets));
  record.put(kLoraRank, lora.rank);
  record.put(kBasePrecision, name(lora.base));
  record.put(kTrainedParameters, trained);
  record.remarks.push_back(
      fmt::format("adapters: {:.4g} million parameters are trained beside {:.4g} billion that are not, beside {} with "
                  "rank {}{}",
                  trained * 1e-6, parameters(setup.model) * 1e-9, text_of(lora.targets), lora.rank,
                  lora.base == BasePrecision::nf4 ? ", whose base is kept in nf4" : ""));
}

void put_plan(const TrainingSetup& setup, Record& record) {
  const ParallelPlan& plan = setup.plan;
  record.put(kModel, setup.model.name);
  record.put(kGpu, gpu_names(setup));
  record.put(kGpus, plan.ranks());
  record.put(kPrecision, name(plan.precision));
  record.put(kTensor, plan.tensor);
  record.put(kContext, plan.context);
  record.put(kPipeline, plan.pipeline);
  record.put(kData, plan.data);
  record.put(kExpert, plan.expert);
  record.put(kSchedule, name(plan.schedule));
  record.put(kVirtualStages, plan.virtual_stages);
  record.put(kSharding, name(plan.sharding));
  if (plan.optimizer != OptimizerKind::adam) { record.put(kOptimizer, name(plan.optimizer)); }
  put_adapters(setup, record);
  record.put(kRecompute, name(plan.recompute));
  record.put(kMicroBatch, plan.micro_batch);
  record.put(kGlobalBatch, plan.global_batch);
  if (setup.model.transformer) { record.put(kSequence, plan.sequence); }
  if (!setup.framework.framework) { return; }
  JsonValue assumed = assumed_json(setup.framework, plan);
  std::vector<std::string> parts;
  for (const auto& [key, value] : assumed.members()) {
    parts.push_back(fmt::format("{} {}", key, value.is_string() ? value.string() : text_of(value)));
  }
  record.put(kFramework, setup.framework.framework->name);
  record.put(kAssumed, std::move(assumed));
  record.remarks.push_back(fmt::format("as {}: {}", setup.framework.framework->name, joined(parts, ", ")));
}

std::string memory_text(const MemoryUse& use, std::string_view where, double room) {
  return fmt::format(
      "memory: {:.1f} GB on {}, of {:.0f}: parameters {:.1f}, gradients {:.1f}, optimizer "
      "{:.1f}, "
      "activations {:.1f}, buffers {:.1f}{}",
      use.total() * kGigabyte, where, room * kGigabyte, use.parameters * kGigabyte, use.gradients * kGigabyte,
      use.optimizer * kGigabyte, use.activations * kGigabyte, use.buffers * kGigabyte,
      use.compression > 0 ? fmt::format(", compression {:.1f}", use.compression * kGigabyte) : "");
}

void remark_memory(const Training& training, Record& record) {
  const double room = fullest_gpu(training.setup).memory;
  if (!training.others) {
    return record.remarks.push_back(memory_text(training.memory, "a GPU of the fullest stage", room));
  }
  record.remarks.push_back(memory_text(training.memory, "GPU 0", room));
  const double others = smallest_gpu(training.setup).memory;
  record.remarks.push_back(memory_text(*training.others, "each other GPU", others));
}

void put_step(const StepResult& result, Record& record) {
  JsonValue breakdown = breakdown_json(result.shares, "bubble");
  breakdown["stragglers"] = result.straggler_share;
  record.put(kStepTime, seconds(result.time));
  record.put(kSamples, result.samples_per_s);
  record.put(kFlops, result.tflops_per_gpu);
  record.put(kMfu, result.mfu);
  record.put(kBubble, result.shares.waiting);
  record.put(kExposedTime, result.shares.all_exposed() * seconds(result.time));
  record.put(kBreakdown, std::move(breakdown));
  record.put(kComputing, result.shares.computing);
  record.put(kExposed, result.shares.all_exposed());
  record.put(kStragglers, result.straggler_share);
}

/// Where eight of ten measured steps are expected, as far as anybody knows.
void put_interval_of_step(const Training& training, Time time, Record& record) {
  record.put(kCompute, training.setup.compute.name);
  if (!training.expected_error) { return; }
  const StepError& error = *training.expected_error;
  record.put(kStepLow, seconds(time) * error.low);
  record.put(kStepHigh, seconds(time) * error.high);
  record.put(kKnown, name(error.knowledge));
  record.put(kShared, error.shared);
  record.put(kInterval, interval_text(error.low, error.high));
}

void remark_where_time_went(const StepResult& result, Record& record) {
  const std::string exposed = exposed_text(result.shares);
  if (!exposed.empty()) { record.remarks.push_back("exposed: " + exposed); }
  const std::string computing = computing_text(result.workload, result.time);
  if (!computing.empty()) { record.remarks.push_back("computing: " + computing); }
}

}  // namespace

std::string describe(const TrainingSetup& setup) {
  const ParallelPlan& plan = setup.plan;
  return fmt::format("{} on {}: {}; batch {} of {} at once, {} in {}", setup.model.name, counted_gpus(setup),
                     degrees(plan), plan.global_batch, plan.micro_batch,
                     setup.model.transformer ? fmt::format("{} tokens", plan.sequence) : "samples",
                     name(plan.precision));
}

std::vector<std::string> TrainingExperiment::notes(const StepResult& result, const CollectiveTimer& timer,
                                                   const Platform& platform) const {
  std::vector<std::string> notes = training_->notes;
  add_workload_notes(result.workload, timer, platform, notes);
  return notes;
}

WorkloadRun TrainingExperiment::simulate(const Platform& platform, CollectiveTimer& timer,
                                         const WorkloadOptions& options) const {
  StepResult result = simulate_step(training_->setup, timer, options);
  std::vector<std::string> all = notes(result, timer, platform);
  const Time stragglers = result.time - result.workload.time;
  return {result.time, stragglers, std::move(result.workload), std::move(all)};
}

void TrainingExperiment::put_interval(const Platform& /*platform*/, const WorkloadRun& run, Record& record) const {
  put_interval_of_step(*training_, run.time, record);
}

std::vector<Record> TrainingExperiment::run(const Run& run) const {
  const TrainingSetup& setup = training_->setup;
  CollectiveTimer timer(pricing(run.platform, run.options));
  const StepResult result =
      simulate_step(setup, timer, {.critical_path = false, .timeline = run.options.timeline, .stop = run.options.stop});
  const StepCosts costs = costs_of(result, training_->costs, machine_of(*run.platform.cluster, setup.plan.ranks()));
  const std::vector<std::string> all = notes(result, timer, run.platform);
  Record record = run.head;
  put_plan(setup, record);
  put_step(result, record);
  put_interval_of_step(*training_, result.time, record);
  record.put(kMemory, training_->memory.total() * kGigabyte);
  put_compression(setup, result.time, step_before(setup, timer, {.critical_path = false, .stop = run.options.stop}),
                  record);
  if (training_->others) { record.put(kMemoryOthers, training_->others->total() * kGigabyte); }
  record.put(kNetwork, name(run.platform.network.level));
  if (setup.model.transformer) { record.put(kTokens, result.tokens_per_s); }
  if (training_->measured) {
    record.put(kMeasuredStep, seconds(*training_->measured));
    record.put(kStepError, seconds(result.time) / seconds(*training_->measured) - 1);
  }
  put_step_costs(result, costs, training_->costs, record);
  record.put(kNotes, all);
  remark_where_time_went(result, record);
  put_mixture(setup, result, record);
  remark_calls(result.workload, record);
  put_skipped_packets(timer, record);
  remark_memory(*training_, record);
  remark_step_costs(result, costs, training_->costs, record);
  record.remarks.insert(record.remarks.end(), all.begin(), all.end());
  record.effort = work_text(result.workload);
  return {record};
}

WorkCount TrainingExperiment::work(const Platform& platform, Bytes /*size*/, const RunOptions& options) const {
  WorkCount count = work_of(workload_of(training_->setup), pricing(platform, options));
  if (has_steps_before(training_->setup)) {
    count += work_of(workload_of(without_compression(training_->setup)), pricing(platform, options));
  }
  return count;
}

std::vector<const Column*> TrainingExperiment::columns(bool /*seeds*/) const {
  const bool tokens = training_->setup.model.transformer.has_value();
  return {&kStepTime,     &kInterval, tokens ? &kTokens : &kSamples,
          &kFlops,        &kMfu,      &kComputing,
          &kBubble,       &kExposed,  &kStragglers,
          &kMeasuredStep, &kStepError};
}

std::vector<const Column*> TrainingExperiment::figures() {
  std::vector<const Column*> figures{&kModel, &kGpus,   &kStepTime,    &kStepLow, &kStepHigh, &kTokens, &kFlops,
                                     &kMfu,   &kBubble, &kExposedTime, &kMemory,  &kCompute,  &kKnown};
  const std::vector<const Column*> costs = figures_of_step_costs();
  figures.insert(figures.end(), costs.begin(), costs.end());
  figures.insert(figures.end(), {&kMeasuredStep, &kSamples});
  return figures;
}

std::optional<Reference> TrainingExperiment::reference() const {
  if (!training_->measured) { return std::nullopt; }
  return Reference{.max_error = training_->max_error, .max_median_error = training_->max_median_error};
}

std::vector<std::pair<std::string, std::string>> TrainingExperiment::description(const Platform& platform) const {
  const TrainingSetup& setup = training_->setup;
  std::string computing = setup.compute.name;
  if (setup.compute.pooled) { computing += ": " + setup.compute.description; }
  for (const GpuKind& other : setup.others) {
    if (other.compute.name != setup.compute.name) {
      computing += fmt::format(", of {} {}", other.gpu.name, other.compute.name);
    }
  }
  return {{"training", describe(setup)},
          {"profile", fmt::format("collectives {}; computing {}", profile_text(*platform.profile), computing)}};
}

std::string TrainingExperiment::refusal(const Platform& platform, Ability ability) const {
  return ability == Ability::memory ? "" : WorkloadExperiment::refusal(platform, ability);
}

std::vector<std::string> TrainingExperiment::keys_at_rest() const {
  std::vector<std::string> keys = athanor::idle_keys(training_->setup.plan);
  for (std::string& key : keys) { key.insert(0, "/training/parallel/"); }
  return keys;
}

std::vector<IdleKeys> TrainingExperiment::idle_keys(const Platform& platform) const {
  std::vector<IdleKeys> idle = WorkloadExperiment::idle_keys(platform);
  const std::optional<Transformer>& model = training_->setup.model.transformer;
  if (!model || !model->experts) {
    idle.push_back({{"/training/expert_imbalance", "/training/parallel/experts", "/training/parallel/overlap_experts"},
                    "the model has no experts",
                    "leave it out, or train a mixture of experts"});
  }
  if (!training_->setup.plan.has_one_process()) {
    idle.push_back({{"/training/model/input"},
                    "inputs cost nothing unless one process scatters them",
                    R"(leave it out, or write "parallel": {"single_process": true})"});
  }
  if (!model) {
    idle.push_back({{"/training/sequence", "/training/costs/tokens", "/training/parallel/fused_attention",
                     "/training/parallel/fused_loss", "/training/parallel/dropout"},
                    "a list of layers says itself what each computes, and has no tokens",
                    "leave it out, or train a transformer"});
  }
  return idle;
}

}  // namespace athanor
