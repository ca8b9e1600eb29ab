#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/training/compression/coding.hpp"
#include "models/training/parallel_plan.hpp"
#include "models/training/step/stage_writer.hpp"

namespace athanor {

/// Whose gradients are added up, and who holds which part of the parameters, of one place of the model.
struct DataGroups {
  std::uint32_t shard = 0;      ///< communicator of those that hold one copy
  std::uint32_t replicate = 0;  ///< communicator of those that hold the same part of several copies
  std::uint32_t shard_ranks = 1;
  std::uint32_t replicas = 1;
  std::uint32_t node = 0;   ///< communicator of those of `shard` on one node, where compression knows nodes
  std::uint32_t nodes = 0;  ///< ... of one of each node
  std::uint32_t node_ranks = 1;
};

/// What data parallelism adds to the operations of one chunk of layers of a stage: gradients that are added up and
/// parameters that are collected.
class DataParallel {
 public:
  using Number = StageWriter::Number;

  /// `micro_batches`: that go through the chunk. `dense`, `experts`: groups of the two kinds of parameters. `coding`:
  /// how fast what is sent is compressed.
  DataParallel(const ParallelPlan& plan, StageWriter& writer, const ChunkPieces& chunk, std::uint32_t micro_batches,
               DataGroups dense, DataGroups experts, const CodingRate& coding, const std::string& name);

  /// At the very beginning of the step.
  void begin();
  /// Before a layer is computed forward, or backward.
  void before_forward(Chain& chain, std::size_t layer);
  void before_backward(Chain& chain, std::size_t layer);
  /// Between computing it a second time and its backward.
  void after_recompute(Chain& chain, std::size_t layer);
  /// Its parameters are given back, where they are gathered for each use.
  void after_forward(Chain& chain, std::size_t layer);
  /// When it has the gradients of so many of its dense parameters, of one micro-batch, and others are to come.
  void during_backward(const Chain& chain, std::size_t layer, double parameters);
  /// When a layer has its gradients of one micro-batch.
  void after_backward(Chain& chain, std::size_t layer);
  /// When all micro-batches are through: what the optimizer has to wait for. `chain`: what was done last.
  StageWriter::Numbers finish(const Chain& chain);
  /// After the optimizer, which is what is computed last.
  void after_optimizer(const Chain& chain);

 private:
  /// Of one kind of parameters.
  struct Kind {
    DataGroups groups;
    double LayerPieces::*parameters;
    double LayerPieces::*frozen;
    GradientPart waiting = {};  ///< whose gradients wait for their bucket to be full
  };

  /// Of one process: how many layers all GPUs compute; behind them GPU 0 has all outputs.
  std::size_t layers_of_all() const { return chunk_.layers.size() - (chunk_.loss_apart ? 1 : 0); }
  /// Of one process: before forward all GPUs get their share of inputs, and the parameters.
  void scatter_and_replicate(Chain& chain);
  double total() const;        ///< parameters of both kinds
  double total_bytes() const;  ///< ... as they are sent
  /// Of one process: GPU 0 sends to all others, or receives from them, and everybody waits for it.
  void with_the_first(Chain& chain, const std::string& label, CollectiveKind kind, Bytes size, DataType type);
  bool gathers_layers() const { return plan_.sharding >= Sharding::gradients; }
  /// Else they stay from one micro-batch to the next, as in DeepSpeed's ZeRO-2.
  bool gathers_for_each_use() const {
    return plan_.sharding == Sharding::parameters || (plan_.sharding == Sharding::gradients && plan_.gather_again);
  }
  /// What a call waits for: the host, where it makes a list of a tensor for each rank. It does so when the GPU has done
  /// what it had, the call before among that.
  StageWriter::Numbers listed(const Kind& kind, const StageWriter::Numbers& after);
  /// For forward or for backward.
  void gather_layer(const StageWriter::Numbers& after, std::size_t layer, bool backward, std::vector<Number>& gathered);
  void wait(Chain& chain, std::vector<Number>& gathered);
  void reduce(Kind& kind, const GradientPart& part, const StageWriter::Numbers& after);
  StageWriter::Numbers coded(const Kind& kind, const GradientPart& part, const StageWriter::Numbers& after);
  void put_into_bucket(Kind& kind, const GradientPart& part, const Chain& chain);
  /// So many parameters of a layer, of all that it has.
  GradientPart part_of(const Kind& kind, std::size_t layer, double parameters) const;
  CodingPlace place_of(const Kind& kind) const;
  /// A layer's, or a call's share of it: as compression has it.
  Number gather_unit(const Kind& kind, double all_bytes, double of_each, bool backward,
                     const StageWriter::Numbers& after);
  Number gather(const Kind& kind, double all_bytes, const StageWriter::Numbers& after);
  double total(const Kind& kind) const;        ///< parameters
  double total_bytes(const Kind& kind) const;  ///< of them, as they are gathered
  /// Of a layer, as it is gathered: what an update has changed, or all where it is given back after each use.
  double gathered_bytes(const Kind& kind, const LayerPieces& layer) const;

  const ParallelPlan& plan_;
  StageWriter& writer_;
  const ChunkPieces& chunk_;
  const CodingRate& coding_;
  std::uint32_t micro_batches_;
  std::vector<Kind> kinds_;
  std::uint16_t gather_stream_;
  std::uint16_t reduce_stream_;
  std::vector<std::uint32_t> done_;            ///< by layer: micro-batches whose gradients are there
  std::vector<double> in_buckets_;             ///< by layer: dense parameters whose gradients are in buckets already
  std::vector<std::vector<Number>> gathered_;  ///< by layer: what the next use of its parameters waits for
  std::vector<bool> requested_;                ///< by layer: is gathered for its next use
  StageWriter::Numbers reductions_;
  StageWriter::Numbers last_call_;  ///< that the host has made lists for
};

}  // namespace athanor
