#pragma once

#include <optional>
#include <vector>

#include "models/training/pipeline/schedule.hpp"
#include "sim/time.hpp"

namespace athanor {

/// How long the tasks of a pipeline take, each for one micro-batch through one chunk.
struct PipelineDurations {
  Time forward;
  Time backward_input;
  Time backward_weight;
  Time forward_backward;  ///< both side by side (dual_pipe): no more than their sum
  Time message;           ///< activations or gradients to another stage, which hinder nothing and do not wait
};

/// A schedule, carried out.
struct PipelineTimes {
  struct Stage {
    Time begin;  ///< of its first task
    Time end;    ///< of its last
    Time busy;
  };
  std::vector<Stage> stages;
  std::size_t done = 0;  ///< tasks; fewer than there are where some wait for ever

  Time end() const;      ///< of the last task of all
  Time longest() const;  ///< from the first to the last task of one stage: where stages need not end together
};

/// Times of a schedule whose tasks take equally long on every stage. Each stage does its tasks in order, as early as
/// what they need is there: a forward the forward at the place before, a backward the stage's own forward and the
/// backward at the place behind, weights the backward of inputs.
PipelineTimes pipeline_times(const PipelineSchedule& schedule, const PipelineDurations& durations);
/// Times of a schedule with durations by place of the model: `message` of what crosses the boundary behind the place,
/// in either direction; of two passes side by side that of the forward's place counts. Requires durations of every
/// place.
PipelineTimes pipeline_times(const PipelineSchedule& schedule, const std::vector<PipelineDurations>& durations);

}  // namespace athanor
