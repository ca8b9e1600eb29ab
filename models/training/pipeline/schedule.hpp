#pragma once

#include <cstdint>
#include <vector>

#include "models/training/parallel_plan.hpp"

namespace athanor {

/// One piece of work of a pipeline stage.
struct PipelineTask {
  enum class Kind : std::uint8_t {
    forward,
    backward,  ///< both gradients, of inputs and of weights
    backward_input,
    backward_weight,
    /// The forward of `micro_batch` through `chunk` side by side with the whole backward of `other` through
    /// `other_chunk` (dual_pipe).
    forward_backward,
  };
  Kind kind = Kind::forward;
  std::uint32_t chunk = 0;  ///< of the stage
  std::uint32_t micro_batch = 0;
  std::uint32_t other_chunk = 0;  ///< forward_backward: of the backward
  std::uint32_t other = 0;
  bool operator==(const PipelineTask&) const = default;
};

/// What the stages of a pipeline do, in order. Micro-batches pass every place of the model in ascending order, forward
/// and backward.
struct PipelineSchedule {
  std::uint32_t stages = 1;
  std::uint32_t chunks = 1;  ///< of layers, of each stage, those of all replicas together
  std::uint32_t micro_batches = 1;
  std::vector<std::vector<PipelineTask>> tasks;  ///< by stage
  /// Where a place of the model is: stage and the stage's chunk. (Interleaved: place % stages; zb_v turns round.)
  struct StageChunk {
    std::uint32_t stage = 0;
    std::uint32_t chunk = 0;
    bool operator==(const StageChunk&) const = default;
  };
  /// By replica, then by place in the model: replica r begins at entry r * places().
  std::vector<StageChunk> stage_chunks;
  /// Of the model's parameters (dual_pipe: 2, one for each direction). Micro-batches are split among them: replica r
  /// has those from r * micro_batches / replicas on.
  std::uint32_t replicas = 1;

  std::uint32_t places() const { return stages * chunks / replicas; }
  /// By stage and chunk (stage * chunks + chunk): the entry of `stage_chunks`.
  std::vector<std::uint32_t> entries() const;
};

/// What becomes of a forward and the backward that follows it (1f1b and interleaved).
enum class PassPairs : std::uint8_t {
  by_turns,
  /// Of two micro-batches at once: forward_backward tasks. A micro-batch comes down by one stage in the time of a pair
  /// and goes up by one in that of another, so that 1f1b warms up with 2 (stages - 1 - stage) + 1 forwards in place of
  /// stages - 1 - stage, and interleaved with one more (Megatron Core's overlap_moe_expert_parallel_comm).
  side_by_side,
};

/// `chunks`: of layers, of each stage, of one replica: 2 for zb_v, at least 2 for interleaved, else 1. `micro_batches`
/// and `stages` at least 1. Sources: GPipe, Huang et al. 2019; 1F1B and interleaved, Narayanan et al. 2021 and
/// Megatron-LM (core 0.11: megatron/core/pipeline_parallel/schedules.py); zb_h1, zb_h2, zb_v, Qi et al. 2024 (Zero
/// Bubble Pipeline Parallelism), as drawn there for passes of equal length; dual_pipe, DeepSeek-AI 2025 (DualPipe).
/// Interleaved micro-batches go through a chunk in groups: of the least number, from `stages` on, that leaves no last
/// group smaller than `stages`, as Megatron-LM asks.
/// `pairs`: of 1f1b and interleaved alone.
/// Throws SimulationError("pipeline-does-not-fit") where the schedule cannot be made for these numbers, saying which
/// would do.
PipelineSchedule pipeline_schedule(PipelineKind kind, std::uint32_t stages, std::uint32_t chunks,
                                   std::uint32_t micro_batches, PassPairs pairs = PassPairs::by_turns);

/// The pipeline schedule of a plan; zb_v has two chunks whatever the plan says. Throws as pipeline_schedule().
PipelineSchedule schedule_of(const ParallelPlan& plan);

/// What a stage keeps for backward, in activations of one micro-batch through a whole stage (through all its chunks;
/// dual_pipe: through those of one replica).
struct HeldActivations {
  double whole = 0;    ///< forward has been done, the backward of inputs has not ended
  double weights = 0;  ///< the backward of inputs has been done, that of weights has not ended
};

/// At the moment at which whole + `weight_share` * weights is most: the share of activations that the backward of
/// weights needs. Of equal moments the first. Requires a stage of the schedule.
HeldActivations peak_activations(const PipelineSchedule& schedule, std::uint32_t stage, double weight_share = 1);

}  // namespace athanor
