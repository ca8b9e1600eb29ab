#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/training/pipeline/schedule.hpp"

namespace athanor {

using PipelineOrder = std::vector<PipelineTask>;

/// What one stage does in order, by schedule. Requires numbers that fit, as pipeline_schedule() checks them.
PipelineOrder gpipe_order(std::uint32_t micro_batches);
PipelineOrder one_f_one_b_order(std::uint32_t stages, std::uint32_t micro_batches, std::uint32_t stage,
                                PassPairs pairs = PassPairs::by_turns);
PipelineOrder interleaved_order(std::uint32_t stages, std::uint32_t chunks, std::uint32_t micro_batches,
                                std::uint32_t stage, PassPairs pairs = PassPairs::by_turns);
/// `depth`: 1 for H1, 2 for H2.
PipelineOrder zero_bubble_order(std::uint32_t depth, std::uint32_t stages, std::uint32_t micro_batches,
                                std::uint32_t stage);
PipelineOrder zero_bubble_v_order(std::uint32_t stages, std::uint32_t micro_batches, std::uint32_t stage);
PipelineOrder dual_pipe_order(std::uint32_t stages, std::uint32_t micro_batches, std::uint32_t stage);

/// Writes down what a stage of two chunks does, counting micro-batches of each chunk and kind. What goes beyond the
/// last micro-batch is left out.
class TaskWriter {
 public:
  /// Chunk c starts with micro-batch `first[c]`; each has `count` of them.
  TaskWriter(std::uint32_t count, std::array<std::uint32_t, 2> first) : count_(count), first_(first) {
    order_.reserve(std::size_t{count} * 6);
  }

  void forward(std::uint32_t chunk) { add(PipelineTask::Kind::forward, chunk, forwards_[chunk]++); }
  void backward(std::uint32_t chunk) { add(PipelineTask::Kind::backward, chunk, backwards_[chunk]++); }
  void backward_input(std::uint32_t chunk) {
    pending_.push_back({chunk, backwards_[chunk]});
    add(PipelineTask::Kind::backward_input, chunk, backwards_[chunk]++);
  }
  /// Of the backward of inputs that waits longest: requires that one does.
  void backward_weight() {
    const Pending done = pending_[next_pending_++];
    add(PipelineTask::Kind::backward_weight, done.chunk, done.number);
  }
  void forward_backward(std::uint32_t chunk, std::uint32_t other_chunk) {
    order_.push_back({PipelineTask::Kind::forward_backward, chunk, first_[chunk] + forwards_[chunk]++, other_chunk,
                      first_[other_chunk] + backwards_[other_chunk]++});
  }

  std::uint32_t forwards(std::uint32_t chunk) const { return forwards_[chunk]; }
  bool weights_wait() const { return next_pending_ < pending_.size(); }
  std::vector<PipelineTask> take() { return std::move(order_); }

 private:
  struct Pending {
    std::uint32_t chunk = 0;
    std::uint32_t number = 0;
  };

  void add(PipelineTask::Kind kind, std::uint32_t chunk, std::uint32_t number) {
    if (number < count_) { order_.push_back({.kind = kind, .chunk = chunk, .micro_batch = first_[chunk] + number}); }
  }

  std::uint32_t count_;
  std::array<std::uint32_t, 2> first_;
  std::array<std::uint32_t, 2> forwards_{};
  std::array<std::uint32_t, 2> backwards_{};
  std::vector<Pending> pending_;
  std::size_t next_pending_ = 0;
  std::vector<PipelineTask> order_;
};

}  // namespace athanor
