#pragma once

#include <memory>
#include <string>
#include <vector>

#include "algorithms/schedule/collective.hpp"
#include "models/training/layer_matrices.hpp"
#include "models/workload/workload.hpp"
#include "sim/units.hpp"

namespace athanor {

/// Something that every GPU of a stage does for one micro-batch, one after the other: it computes, or takes part in a
/// collective with other GPUs of the stage.
struct WorkPiece {
  bool computes = true;
  std::string label;                      ///< "attention", "all-gather": by which time is told apart
  Time time;                              ///< of computing
  Time launch;                            ///< what the host takes to dispatch it
  Parallelism use = Parallelism::tensor;  ///< of a collective: tensor, expert or context
  CollectiveKind kind = CollectiveKind::all_reduce;
  Bytes size;                                               ///< as Collective::count counts
  double imbalance = 1;                                     ///< as Workload::Call
  std::shared_ptr<const TokenExchange> exchange = nullptr;  ///< the same
  /// Of a collective: what is computed next does not wait for it; what comes after that does.
  bool beside = false;
  /// Of computing: dense parameters of one GPU whose gradients are there behind it, before those of the rest of the
  /// layer.
  double gradients = 0;
};

using Pieces = std::vector<WorkPiece>;

/// One layer, or what is before the first or behind the last one.
struct LayerPieces {
  Pieces forward;
  Pieces recompute;       ///< before its backward
  Pieces backward;        ///< of inputs and weights together: communication of the one beside the other
  Pieces backward_input;  ///< or one after the other (zero-bubble pipelines)
  Pieces backward_weight;
  double dense_parameters = 0;             ///< of one GPU, that data-parallel ranks hold alike
  double expert_parameters = 0;            ///< of one GPU, parameters of experts, whose data-parallel ranks are others
  std::vector<LayerMatrix> matrices = {};  ///< among them, where lists_matrices()
  double parameter_bytes = 2;              ///< of each of these, as they are gathered
  double frozen_dense = 0;    ///< bytes of parameters without gradients, that data-parallel ranks hold alike
  double frozen_experts = 0;  ///< ... of experts
  /// Offloaded: what its activations take to the host's memory, and as long back; zero: they stay.
  Time offload = {};
  /// Offloaded: the layer of the chunk behind whose forward they are gone, and before whose backward they set out.
  std::size_t offload_window = 0;
};

/// What one stage's chunk of layers does.
struct ChunkPieces {
  std::vector<LayerPieces> layers;  ///< in forward order; embedding and output are layers, too
  Bytes output = {};                ///< behind the model's last layer: what one GPU has of a micro-batch
  Time inputs = {};                 ///< of one process: what a GPU's share of them takes from the host's memory
  bool loss_apart = false;          ///< of one process: the last of `layers` is the loss of all GPUs' outputs
};

/// How fast a GPU codes what is sent: kernels that read and write its memory.
struct CodingRate {
  double bytes_per_s = 0;  ///< read and written; 0: in no time
  Time overhead = {};      ///< of each kernel
  Time launch = {};        ///< what the host takes to dispatch each
};

/// A training step as its GPUs see it.
struct StepPieces {
  std::vector<ChunkPieces> places;  ///< by place in the model: as PipelineSchedule::stage_chunks
  std::vector<Bytes> boundaries;    ///< behind each place but the last: of one micro-batch, what one GPU sends on
  std::vector<Pieces> optimizer;    ///< by stage
  Time launch;                      ///< what the host takes to dispatch the first kernel of a step
  Time pass_overhead;               ///< of a pipeline: what a stage's host takes before each pass but that of weights
  CodingRate coding = {};           ///< of compressed gradients and parameters
  Bytes tied_embedding;             ///< of gradients that the first and the last stage add up, on one GPU; 0: none
};

}  // namespace athanor
