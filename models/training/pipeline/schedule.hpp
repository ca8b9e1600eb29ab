#pragma once

#include <cstdint>
#include <string>
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
    forward_backward,  ///< a forward and a backward side by side (DualPipe): `micro_batch` and `other` ...
  };
  Kind kind = Kind::forward;
  std::uint32_t chunk = 0;  ///< of the stage
  std::uint32_t micro_batch = 0;
  std::uint32_t other_chunk = 0;  ///< forward_backward: of the backward
  std::uint32_t other = 0;
  bool operator==(const PipelineTask&) const = default;
};

/// What the stages of a pipeline do, in order.
struct PipelineSchedule {
  std::uint32_t stages = 1;
  std::uint32_t chunks = 1;                      ///< of layers, of each stage
  std::vector<std::vector<PipelineTask>> tasks;  ///< by stage
  /// Where chunk `place` of the model's `stages * chunks` runs: stage and the stage's chunk. (Interleaved: place %
  /// stages; zb_v and dual_pipe turn round.)
  struct Seat {
    std::uint32_t stage = 0;
    std::uint32_t chunk = 0;
  };
  std::vector<Seat> seats;     ///< by place in the model
  std::uint32_t replicas = 1;  ///< of the model's parameters (dual_pipe: 2, one for each direction)
};

/// Throws SimulationError("pipeline-does-not-fit") where the schedule cannot be made for these numbers, saying which
/// would do. `micro_batches` and `stages` at least 1.
PipelineSchedule pipeline_schedule(PipelineKind kind, std::uint32_t stages, std::uint32_t chunks,
                                   std::uint32_t micro_batches);

}  // namespace athanor
