#include <algorithm>

#include "models/training/pipeline/orders.hpp"
#include "models/training/pipeline/task_writer.hpp"

namespace athanor {

namespace {

/// A stage and the one opposite do the same with the directions exchanged: `near` is the chunk of the direction that
/// starts at its own end of the pipeline.
struct DualStage {
  std::uint32_t near = 0;
  std::uint32_t far = 1;
  std::uint32_t depth = 0;  ///< from its end
  std::uint32_t above = 0;  ///< stages between it and the middle
};

DualStage seen_from_its_end(std::uint32_t stages, std::uint32_t stage) {
  const bool lower = stage >= stages / 2;
  const std::uint32_t depth = std::min(stage, stages - 1 - stage);
  return {lower ? 1U : 0U, lower ? 0U : 1U, depth, stages / 2 - 1 - depth};
}

void fill(TaskWriter& writer, const DualStage& stage) {
  for (std::uint32_t i = 0; i < 2 * stage.above; ++i) { writer.forward(stage.near); }
  for (std::uint32_t i = 0; i <= stage.depth; ++i) {
    writer.forward(stage.near);
    writer.forward(stage.far);
  }
  for (std::uint32_t i = 0; i < stage.above; ++i) {
    writer.backward_input(stage.far);
    writer.backward_weight();
    writer.forward(stage.far);
  }
}

void flow(TaskWriter& writer, const DualStage& stage, std::uint32_t rounds) {
  for (std::uint32_t i = 0; i < rounds; ++i) {
    if (i == 0 && stage.above == 0) {  // in the middle, what follows waits for this backward: it goes without company
      writer.forward(stage.near);
      writer.backward(stage.far);
    } else {
      writer.forward_backward(stage.near, stage.far);
    }
    writer.forward_backward(stage.far, stage.near);
  }
  for (std::uint32_t i = 0; i < stage.above; ++i) {
    writer.backward(stage.far);
    writer.forward_backward(stage.far, stage.near);
  }
}

/// Half of the last backwards put their weights off, to fill the time when others still drain.
void drain(TaskWriter& writer, const DualStage& stage) {
  for (std::uint32_t i = 0; i < 2 * (stage.depth + 1); ++i) {
    const std::uint32_t chunk = i % 2 == 0 ? stage.far : stage.near;
    if (i <= stage.depth) {
      writer.backward(chunk);
    } else {
      writer.backward_input(chunk);
    }
  }
  for (std::uint32_t i = 0; i < stage.above; ++i) {
    writer.backward_weight();
    writer.backward_input(stage.near);
  }
  while (writer.weights_wait()) { writer.backward_weight(); }
}

}  // namespace

PipelineOrder dual_pipe_order(std::uint32_t stages, std::uint32_t micro_batches, std::uint32_t stage) {
  const DualStage self = seen_from_its_end(stages, stage);
  TaskWriter writer(micro_batches / 2, {0, micro_batches / 2});
  fill(writer, self);
  flow(writer, self, micro_batches / 2 - stages + self.depth + 1);
  drain(writer, self);
  return writer.take();
}

}  // namespace athanor
