#include <algorithm>

#include "models/training/pipeline/orders.hpp"
#include "models/training/pipeline/task_writer.hpp"

namespace athanor {

// A stage further down starts later and, with the same number of micro-batches in flight as the first one, puts off
// its weights for as many micro-batches as it is farther down: so they fill the drain, where nothing else is left.
PipelineOrder zero_bubble_order(std::uint32_t depth, std::uint32_t stages, std::uint32_t micro_batches,
                                std::uint32_t stage) {
  TaskWriter writer(micro_batches, {0, 0});
  const std::uint32_t warm_up = std::min(micro_batches, depth * (stages - 1 - stage) + 1);
  while (writer.forwards(0) < warm_up) { writer.forward(0); }
  for (std::uint32_t m = 0; m < micro_batches; ++m) {
    writer.backward_input(0);
    if (m >= depth * stage || writer.forwards(0) >= micro_batches) { writer.backward_weight(); }
    if (writer.forwards(0) < micro_batches) { writer.forward(0); }
  }
  while (writer.weights_wait()) { writer.backward_weight(); }
  return writer.take();
}

namespace {

/// The stages fill one after the other, and the last one is the first to turn round.
void warm_up(TaskWriter& writer, std::uint32_t stages, std::uint32_t stage) {
  for (std::uint32_t i = 0; i < 2 * (stages - stage) - 1; ++i) { writer.forward(0); }
  for (std::uint32_t i = 0; i < stage; ++i) {
    writer.forward(1);
    writer.forward(0);
  }
  for (std::uint32_t i = 0; i < stages - stage; ++i) {
    writer.forward(1);
    writer.backward_input(1);
    writer.backward_weight();
  }
}

void drain(TaskWriter& writer, std::uint32_t stages, std::uint32_t stage) {
  for (std::uint32_t i = 0; i < stage; ++i) {
    writer.backward_input(0);
    writer.backward_input(1);
  }
  for (std::uint32_t i = 0; i < stages - stage; ++i) {
    writer.backward_input(0);
    writer.backward_weight();
  }
  while (writer.weights_wait()) { writer.backward_weight(); }
}

}  // namespace

PipelineOrder zero_bubble_v_order(std::uint32_t stages, std::uint32_t micro_batches, std::uint32_t stage) {
  TaskWriter writer(micro_batches, {0, 0});
  const std::uint32_t full = std::max(micro_batches, 2 * stages - 1);  // what fills all stages, cut down by the writer
  warm_up(writer, stages, stage);
  while (writer.forwards(1) < full) {
    if (writer.forwards(0) < full) { writer.forward(0); }
    writer.backward_input(0);
    writer.backward_weight();
    writer.forward(1);
    writer.backward_input(1);
    writer.backward_weight();
  }
  drain(writer, stages, stage);
  return writer.take();
}

}  // namespace athanor
