#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/training/architecture.hpp"
#include "models/training/parallel_plan.hpp"
#include "models/training/pipeline/schedule.hpp"

namespace athanor {

/// Bytes on one GPU.
struct MemoryUse {
  double parameters = 0;  ///< and copies of layers' matrices in fp8 or fp4, as they are and transposed
  double gradients = 0;
  double optimizer = 0;    ///< of Adam: master copy and two moments (of fp32: the moments)
  double activations = 0;  ///< kept for backward
  double buffers = 0;  ///< gathered units of sharded parameters, a recomputed layer, one that is offloaded, gathered
                       ///< inputs

  double compression = 0;  ///< error feedback, factors, secondary copies of parameters, coded gradients

  double total() const { return parameters + gradients + optimizer + activations + buffers + compression; }
};

/// What a pipeline stage holds.
struct StageLoad {
  std::vector<std::uint32_t> layers;  ///< of the model; from model.layers on: of further tokens
  bool embedding = false;
  bool output = false;
  double in_flight = 1;  ///< micro-batches whose activations are kept, each through the whole stage
  double replicas = 1;   ///< of its parameters: dual_pipe 2
  double summing = 1;    ///< share of its parameters whose gradients are added up at once, before they are reduced
  std::vector<std::uint32_t> in_chunk{};  ///< of each of `layers`, its number in its chunk; empty: that in `layers`
};

/// Bytes of activations that one layer keeps of one micro-batch, with the plan's recomputation (of this layer: full
/// ones keep what comes in alone).
double layer_activations(const Transformer& model, const ParallelPlan& plan, std::uint32_t layer);

/// What one GPU of the stage holds at its fullest moment; where one process has all GPUs, the first of them. Left out:
/// the CUDA context, NCCL's buffers, workspaces and what allocators waste.
MemoryUse memory_of(const Transformer& model, const ParallelPlan& plan, const StageLoad& stage);

/// What one GPU, or the first of one process, holds of a model of plain layers, all of which are on each GPU.
MemoryUse memory_of_layers(const TrainedModel& model, const ParallelPlan& plan);

/// What each GPU but the first holds where one process has several, of a transformer or of plain layers; see
/// one_process_memory(). Requires ParallelPlan::has_one_process.
MemoryUse memory_of_others(const TrainedModel& model, const ParallelPlan& plan);

/// Micro-batches whose activations each stage of a pipeline keeps at most, each through the whole stage.
std::vector<double> most_in_flight(const PipelineSchedule& schedule);

/// Share of a stage's parameters whose gradients are added up at once at most, where each chunk reduces them after so
/// many micro-batches and after its last.
double most_summing(const PipelineSchedule& schedule, std::uint32_t stage, std::uint32_t reduce_every);

/// Of each stage of a pipeline, what one of its GPUs holds. `layers`: of each place of the model.
std::vector<MemoryUse> memory_of_stages(const Transformer& model, const ParallelPlan& plan,
                                        const std::vector<std::uint32_t>& layers, const PipelineSchedule& schedule);

/// The stage of a pipeline that holds most. `layers`: of each place of the model; `in_flight`: most_in_flight().
struct StageMemory {
  std::uint32_t stage = 0;
  MemoryUse use;
};
StageMemory fullest_stage(const Transformer& model, const ParallelPlan& plan, const std::vector<std::uint32_t>& layers,
                          const PipelineSchedule& schedule, const std::vector<double>& in_flight);
/// Of the plan's own schedule. Throws as pipeline_schedule.
StageMemory fullest_stage(const Transformer& model, const ParallelPlan& plan, const std::vector<std::uint32_t>& layers);

/// A change of the plan on as many GPUs, and what the fullest stage then holds.
struct MemoryAdvice {
  std::string change;  ///< "recomputation of layernorm", "tensor ranks 8 in place of 4"
  ParallelPlan plan;
  MemoryUse use;
};
/// Single changes that make it fit into `bytes`, the least memory first; where none does alone, those that save at
/// least a tenth. Each is evaluated anew. `layers`: of each place; where a change makes another number of places,
/// layers_of_places().
std::vector<MemoryAdvice> memory_advice(const Transformer& model, const ParallelPlan& plan,
                                        const std::vector<std::uint32_t>& layers, double bytes);

}  // namespace athanor
