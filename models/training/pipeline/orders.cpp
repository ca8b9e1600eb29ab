#include "models/training/pipeline/orders.hpp"

#include <algorithm>

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

/// Both at the same time.
PipelineTask paired(const PipelineTask& forward, const PipelineTask& backward) {
  return {.kind = Kind::forward_backward,
          .chunk = forward.chunk,
          .micro_batch = forward.micro_batch,
          .other_chunk = backward.chunk,
          .other = backward.micro_batch};
}

/// `warm_up` forwards, then one forward and one backward by turns or at once, then the backwards that are left.
template <class Forward, class Backward>
PipelineOrder alternating(std::uint32_t turns, std::uint32_t warm_up, const Forward& forward, const Backward& backward,
                          PassPairs pairs) {
  warm_up = std::min(turns, warm_up);
  PipelineOrder order;
  order.reserve(std::size_t{turns} * 2);
  for (std::uint32_t turn = 0; turn < warm_up; ++turn) { order.push_back(forward(turn)); }
  for (std::uint32_t turn = warm_up; turn < turns; ++turn) {
    if (pairs == PassPairs::side_by_side) {
      order.push_back(paired(forward(turn), backward(turn - warm_up)));
      continue;
    }
    order.push_back(forward(turn));
    order.push_back(backward(turn - warm_up));
  }
  for (std::uint32_t turn = turns - warm_up; turn < turns; ++turn) { order.push_back(backward(turn)); }
  return order;
}

PipelineOrder unchunked(std::uint32_t micro_batches, std::uint32_t warm_up, PassPairs pairs) {
  const auto task = [](Kind kind) {
    return [kind](std::uint32_t m) { return PipelineTask{.kind = kind, .micro_batch = m}; };
  };
  return alternating(micro_batches, warm_up, task(Kind::forward), task(Kind::backward), pairs);
}

}  // namespace

PipelineOrder gpipe_order(std::uint32_t micro_batches) {
  return unchunked(micro_batches, micro_batches, PassPairs::by_turns);
}

PipelineOrder one_f_one_b_order(std::uint32_t stages, std::uint32_t micro_batches, std::uint32_t stage,
                                PassPairs pairs) {
  const std::uint32_t behind = stages - 1 - stage;
  return unchunked(micro_batches, pairs == PassPairs::side_by_side ? 2 * behind + 1 : behind, pairs);
}

PipelineOrder interleaved_order(std::uint32_t stages, std::uint32_t chunks, std::uint32_t micro_batches,
                                std::uint32_t stage, PassPairs pairs) {
  const GroupedTurns turns(stages, chunks, micro_batches);
  const std::uint32_t warm_up =
      2 * (stages - 1 - stage) + (chunks - 1) * turns.group() + (pairs == PassPairs::side_by_side ? 1 : 0);
  return alternating(
      micro_batches * chunks, warm_up, [&](std::uint32_t turn) { return turns.forward(turn); },
      [&](std::uint32_t turn) { return turns.backward(turn); }, pairs);
}

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
