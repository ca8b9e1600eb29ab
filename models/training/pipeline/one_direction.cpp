#include <algorithm>

#include "models/training/pipeline/orders.hpp"

namespace athanor {

namespace {

using Kind = PipelineTask::Kind;

/// Micro-batches through one chunk in a group, then through the next chunk: which comes when.
class GroupedTurns {
 public:
  GroupedTurns(std::uint32_t stages, std::uint32_t chunks, std::uint32_t micro_batches)
      : chunks_(chunks), micro_batches_(micro_batches), group_(group_of(stages, micro_batches)) {}

  std::uint32_t group() const { return group_; }

  /// The turn-th of chunks x micro-batches.
  PipelineTask forward(std::uint32_t turn) const { return at(Kind::forward, turn); }
  PipelineTask backward(std::uint32_t turn) const {
    PipelineTask task = at(Kind::backward, turn);
    task.chunk = chunks_ - 1 - task.chunk;
    return task;
  }

 private:
  /// The least that leaves a last group that is whole, or no smaller than the stages.
  static std::uint32_t group_of(std::uint32_t stages, std::uint32_t micro_batches) {
    std::uint32_t group = stages;
    while (micro_batches % group != 0 && micro_batches % group < stages) { ++group; }
    return group;
  }

  PipelineTask at(Kind kind, std::uint32_t turn) const {
    const std::uint32_t first = turn / (group_ * chunks_) * group_;
    const std::uint32_t size = std::min(group_, micro_batches_ - first);
    const std::uint32_t within = turn - first * chunks_;
    return {.kind = kind, .chunk = within / size, .micro_batch = first + within % size};
  }

  std::uint32_t chunks_;
  std::uint32_t micro_batches_;
  std::uint32_t group_;
};

/// `warm_up` forwards, then one forward and one backward by turns, then the backwards that are left.
template <class Forward, class Backward>
PipelineOrder alternating(std::uint32_t turns, std::uint32_t warm_up, const Forward& forward,
                          const Backward& backward) {
  warm_up = std::min(turns, warm_up);
  PipelineOrder order;
  order.reserve(std::size_t{turns} * 2);
  for (std::uint32_t turn = 0; turn < warm_up; ++turn) { order.push_back(forward(turn)); }
  for (std::uint32_t turn = warm_up; turn < turns; ++turn) {
    order.push_back(forward(turn));
    order.push_back(backward(turn - warm_up));
  }
  for (std::uint32_t turn = turns - warm_up; turn < turns; ++turn) { order.push_back(backward(turn)); }
  return order;
}

PipelineOrder unchunked(std::uint32_t micro_batches, std::uint32_t warm_up) {
  const auto task = [](Kind kind) {
    return [kind](std::uint32_t m) { return PipelineTask{.kind = kind, .micro_batch = m}; };
  };
  return alternating(micro_batches, warm_up, task(Kind::forward), task(Kind::backward));
}

}  // namespace

PipelineOrder gpipe_order(std::uint32_t micro_batches) { return unchunked(micro_batches, micro_batches); }

PipelineOrder one_f_one_b_order(std::uint32_t stages, std::uint32_t micro_batches, std::uint32_t stage) {
  return unchunked(micro_batches, stages - 1 - stage);
}

PipelineOrder interleaved_order(std::uint32_t stages, std::uint32_t chunks, std::uint32_t micro_batches,
                                std::uint32_t stage) {
  const GroupedTurns turns(stages, chunks, micro_batches);
  const std::uint32_t warm_up = 2 * (stages - 1 - stage) + (chunks - 1) * turns.group();
  return alternating(
      micro_batches * chunks, warm_up, [&](std::uint32_t turn) { return turns.forward(turn); },
      [&](std::uint32_t turn) { return turns.backward(turn); });
}

}  // namespace athanor
