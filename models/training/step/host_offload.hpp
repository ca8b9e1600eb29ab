#pragma once

#include <cstdint>
#include <vector>

#include "models/training/step/pieces.hpp"
#include "models/training/step/stage_writer.hpp"

namespace athanor {

/// Activations of one chunk's layers that wait for their backward in the host's memory: copies on a stream of each
/// direction, beside computing, as Transformer Engine schedules them (transformer_engine/pytorch/cpu_offload.py). They
/// are spread over the chunk: behind the window of a layer its activations are gone, which the next layer waits for;
/// before the backward of that window they set out on their way back.
class HostOffload {
 public:
  /// Borrows both. Micro-batches go forward and backward in one order.
  HostOffload(StageWriter& writer, const ChunkPieces& chunk);

  void before_forward(Chain& chain, std::size_t layer);
  void after_forward(const Chain& chain, std::size_t layer);
  void before_backward(Chain& chain, std::size_t layer);

 private:
  using Number = StageWriter::Number;
  bool offloads(std::size_t layer) const { return chunk_.layers[layer].offload > Time::zero(); }

  StageWriter& writer_;
  const ChunkPieces& chunk_;
  std::vector<std::vector<Number>> away_;  ///< by layer, of each micro-batch: its copy to the host
  std::vector<std::vector<Number>> back_;  ///< ... and back
};

}  // namespace athanor
