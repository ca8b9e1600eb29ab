#include "models/training/step/step_pieces.hpp"

#include <algorithm>
#include <cmath>

#include "models/training/adapters.hpp"
#include "models/training/memory.hpp"
#include "models/training/step/layer_pieces.hpp"
#include "models/training/work_parts.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

Bytes whole_bytes(double bytes) { return Bytes{static_cast<std::int64_t>(std::ceil(bytes))}; }

/// Of activations.
double element_bytes(const ParallelPlan& plan) { return plan.precision == Precision::fp32 ? 4 : 2; }
/// Of a parameter that has no narrow copy.
double parameter_bytes(const ParallelPlan& plan) { return plan.casts_parameters() ? 4 : sizes_of(plan).element; }

/// As long back; zero where nothing is known of the way.
Time from_host(double bytes, const GpuRates& gpu) {
  constexpr double kPicoseconds = 1e12;
  return gpu.host_bandwidth == 0 ? Time::zero() : Time{std::llround(bytes / gpu.host_bandwidth * kPicoseconds)};
}

/// Ranks among which what an optimizer updates is shared out.
std::uint32_t shared_by(const ParallelPlan& plan, std::uint32_t ranks) {
  if (plan.sharding == Sharding::none) { return 1; }
  return plan.shard_group == 0 ? ranks : std::min(ranks, plan.shard_group);
}

/// As element-wise kernels, each dispatched by itself.
CodingRate coding_of(const ParallelPlan& plan, const GpuRates& gpu, const ComputeProfile& profile) {
  const bool dispatched = plan.execution != ExecutionMode::cuda_graphs;
  return {gpu.memory_bandwidth * profile.memory, profile.overhead, dispatched ? profile.launch : Time::zero()};
}

/// What the optimizer of one stage does: with the layers of all its places.
Pieces optimizer_of(const std::vector<const ChunkPieces*>& chunks, const ParallelPlan& plan, const GpuRates& gpu,
                    const ComputeProfile& profile) {
  ParameterShare held;
  for (const ChunkPieces* chunk : chunks) {
    for (const LayerPieces& layer : chunk->layers) {
      held += {layer.dense_parameters, layer.expert_parameters, layer.matrices};
    }
  }
  WorkPiece piece;
  piece.label = "optimizer";
  piece.time = optimizer_time(held, plan, gpu, profile);
  return {piece};
}

std::vector<Pieces> optimizers(const StepPieces& step, const PipelineSchedule& schedule, const ParallelPlan& plan,
                               const GpuRates& gpu, const ComputeProfile& profile) {
  std::vector<std::vector<const ChunkPieces*>> of_stage(schedule.stages);
  for (std::size_t entry = 0; entry < schedule.stage_chunks.size(); ++entry) {
    of_stage[schedule.stage_chunks[entry].stage].push_back(&step.places[entry % schedule.places()]);
  }
  std::vector<Pieces> all;
  for (const auto& chunks : of_stage) { all.push_back(optimizer_of(chunks, plan, gpu, profile)); }
  return all;
}

/// A transformer's layers at their places.
class TransformerStep {
 public:
  TransformerStep(const Transformer& model, const ParallelPlan& plan, const PipelineSchedule& schedule,
                  const GpuRates& gpu, const LayerAssembly& assembly)
      : model_(model), plan_(plan), schedule_(schedule), gpu_(gpu), assembly_(assembly) {}

  StepPieces pieces(const std::vector<std::uint32_t>& layers) const {
    StepPieces step;
    std::uint32_t first = 0;
    for (std::uint32_t place = 0; place < layers.size(); ++place) {
      ChunkPieces& chunk = step.places.emplace_back();
      if (place == 0) {
        add(chunk, assembly_.embedding(), trained_embedding(model_, plan_));
        set_frozen(chunk, frozen_ends(embedding_share(model_, plan_), plan_));
      }
      for (std::uint32_t i = 0; i < layers[place]; ++i) { add_layer(chunk, first + i, i, layers[place]); }
      if (place + 1 == layers.size()) { add_end(chunk, layers.size() > 1); }
      first += layers[place];
    }
    require(first == model_.layers, "{} layers at their places, of {}", first, model_.layers);
    const double sent = tokens_of(plan_) * model_.hidden * 2 / (plan_.sequence_parallel ? plan_.tensor : 1);
    step.boundaries.assign(layers.size() - 1, whole_bytes(sent));
    if (plan_.has_one_process()) { add_ends_of_process(step.places.back()); }
    const bool copied =
        model_.tied && schedule_.stage_chunks.front().stage != schedule_.stage_chunks[layers.size() - 1].stage;
    if (copied && !plan_.freezes()) {
      step.tied_embedding = whole_bytes(word_embedding_share(model_, plan_) * plan_.gradient_bytes);
    }
    return step;
  }

 private:
  void add(ChunkPieces& chunk, LayerPieces pieces, ParameterShare share, bool of_layers = false) const {
    const bool narrow = of_layers && plan_.keeps_fp8();
    pieces.parameter_bytes = narrow ? plan_.kept_fp8_bytes() : parameter_bytes(plan_);
    pieces.dense_parameters = share.dense;
    pieces.expert_parameters = share.experts;
    pieces.matrices = std::move(share.matrices);
    chunk.layers.push_back(std::move(pieces));
  }
  /// Of what was just added.
  static void set_frozen(ChunkPieces& chunk, const FrozenBytes& bytes) {
    chunk.layers.back().frozen_dense = bytes.dense;
    chunk.layers.back().frozen_experts = bytes.experts;
  }
  /// `in_chunk`: its number in the chunk, of `layers`.
  void add_layer(ChunkPieces& chunk, std::uint32_t layer, std::uint32_t in_chunk, std::uint32_t layers) const {
    const bool counted = plan_.recompute_layers == 0 || plan_.recompute == Recompute::selective;
    const bool recompute = plan_.recompute != Recompute::none && (counted || in_chunk < plan_.recompute_layers);
    add(chunk,
        assembly_.layer(layer_work(model_, plan_, layer), has_experts(model_, layer), recompute,
                        trained_mlp_share(model_, plan_, layer)),
        trained_share(model_, plan_, layer), true);
    set_frozen(chunk, frozen_bytes(model_, plan_, layer));
    if (in_chunk < plan_.offload_layers) { set_offload(chunk, layer, in_chunk, layers, recompute); }
  }
  /// Of the layer just added. Copies are spread over the chunk: one for each so many layers.
  void set_offload(ChunkPieces& chunk, std::uint32_t layer, std::uint32_t in_chunk, std::uint32_t layers,
                   bool recompute) const {
    ParallelPlan plan = plan_;
    if (!recompute) { plan.recompute = Recompute::none; }
    const std::uint32_t window = layers / std::min(plan_.offload_layers, layers);
    const std::size_t before = chunk.layers.size() - 1 - in_chunk;  // the embedding
    chunk.layers.back().offload = from_host(layer_activations(model_, plan, layer), gpu_);
    chunk.layers.back().offload_window = before + std::size_t{window} * (in_chunk + 1) - 1;
  }
  /// Each layer of a further token makes logits of its own.
  void add_end(ChunkPieces& chunk, bool apart) const {
    add(chunk, assembly_.output(), trained_output(model_, plan_, apart));
    set_frozen(chunk, frozen_ends(output_share(model_, plan_, apart), plan_));
    for (std::uint32_t i = 0; i < model_.next_token_layers; ++i) {
      const bool recompute = plan_.recompute != Recompute::none;
      add(chunk,
          assembly_.layer(next_token_work(model_, plan_), has_experts(model_, model_.layers + i), recompute,
                          mlp_share(model_, plan_, model_.layers + i)),
          layer_share(model_, plan_, model_.layers + i), true);
      add(chunk, assembly_.output(), {});
    }
  }

  void add_ends_of_process(ChunkPieces& chunk) const {
    chunk.layers.push_back(assembly_.loss_of_all());
    chunk.loss_apart = true;
    chunk.output = whole_bytes(outputs_of(model_, plan_) * sizes_of(plan_).element);
    chunk.inputs = from_host(token_bytes(plan_), gpu_);
  }

  const Transformer& model_;
  const ParallelPlan& plan_;
  const PipelineSchedule& schedule_;
  const GpuRates& gpu_;
  const LayerAssembly& assembly_;
};

/// Layers of any kind: each computes, nothing is split.
StepPieces plain_pieces(const TrainedModel& model, const ParallelPlan& plan, const std::vector<std::uint32_t>& counts,
                        const GpuRates& gpu, const LayerAssembly& assembly) {
  const std::vector<PlainLayer>& layers = model.layers;
  StepPieces step;
  std::size_t next = 0;
  for (std::size_t place = 0; place < counts.size(); ++place) {
    ChunkPieces& chunk = step.places.emplace_back();
    for (std::uint32_t i = 0; i < counts[place]; ++i, ++next) {
      const PhasedKernels work = plain_layer_work(layers[next], plan);
      LayerPieces& pieces = chunk.layers.emplace_back();
      pieces.forward = {assembly.compute(layers[next].name + " forward", work.forward)};
      if (plan.recompute == Recompute::full) { pieces.recompute = pieces.forward; }
      pieces.backward_input = {assembly.compute(layers[next].name + " backward", work.backward_input)};
      pieces.backward_weight = {assembly.compute("gradients of weights", work.backward_weight)};
      pieces.backward = pieces.backward_input;
      pieces.backward.push_back(assembly.compute(layers[next].name + " backward", work.backward_weight));
      pieces.dense_parameters = layers[next].parameters;
      pieces.matrices = matrices_of(layers[next], plan);
      pieces.parameter_bytes = parameter_bytes(plan);
    }
    const double sent = layers[next - 1].output * plan.micro_batch * element_bytes(plan);
    if (place + 1 < counts.size()) { step.boundaries.push_back(whole_bytes(sent)); }
  }
  if (plan.has_one_process()) {
    ChunkPieces& chunk = step.places.back();
    chunk.output = whole_bytes(layers.back().output * plan.micro_batch * sizes_of(plan).element);
    chunk.inputs = from_host(model.input * plan.micro_batch, gpu);
  }
  require(next == layers.size(), "{} layers at their places, of {}", next, layers.size());
  return step;
}

}  // namespace

Time optimizer_time(const ParameterShare& held, const ParallelPlan& plan, const GpuRates& gpu,
                    const ComputeProfile& profile) {
  double updated = 0;
  std::vector<LayerMatrix> matrices;
  for (const bool experts : {false, true}) {
    const double ranks = shared_by(plan, experts ? expert_replicas(plan) : dense_replicas(plan));
    const double updating = updating_ranks(held, experts, ranks, plan);
    updated += (experts ? held.experts : held.dense) / updating;
    for (LayerMatrix& matrix : matrices_of(held, experts)) {
      matrices.push_back(matrix);
      matrices.back().count /= updating;
    }
  }
  const double kept = plan.sharding == Sharding::parameters ? updated : held.total();
  return time_of(optimizer_work(updated, kept, plan, matrices), gpu, profile);
}

StepPieces step_pieces(const TrainedModel& model, const ParallelPlan& plan, const std::vector<std::uint32_t>& layers,
                       const PipelineSchedule& schedule, const GpuRates& gpu, const ComputeProfile& profile) {
  static const Transformer none;
  const LayerAssembly assembly(model.transformer ? *model.transformer : none, plan, gpu, profile);
  StepPieces step = model.transformer
                        ? TransformerStep(*model.transformer, plan, schedule, gpu, assembly).pieces(layers)
                        : plain_pieces(model, plan, layers, gpu, assembly);
  step.optimizer = optimizers(step, schedule, plan, gpu, profile);
  if (plan.compression.is_on()) { step.coding = coding_of(plan, gpu, profile); }
  if (plan.execution != ExecutionMode::cuda_graphs) { step.launch = profile.launch; }
  if (schedule.stages > 1) { step.pass_overhead = profile.pass_overhead; }
  return step;
}

namespace {

Time longer(Time time, double times) { return Time{std::llround(static_cast<double>(time.count()) * times)}; }

void slow_down(Pieces& pieces, double times) {
  for (WorkPiece& piece : pieces) {
    if (piece.computes) { piece.time = longer(piece.time, times); }
  }
}

}  // namespace

void slow_down(StepPieces& step, double times) {
  for (ChunkPieces& place : step.places) {
    for (LayerPieces& layer : place.layers) {
      for (Pieces* phase :
           {&layer.forward, &layer.recompute, &layer.backward, &layer.backward_input, &layer.backward_weight}) {
        slow_down(*phase, times);
      }
    }
  }
  for (Pieces& optimizer : step.optimizer) { slow_down(optimizer, times); }
  step.coding.bytes_per_s /= times;
  step.coding.overhead = longer(step.coding.overhead, times);
}

}  // namespace athanor
