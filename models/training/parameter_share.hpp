#pragma once

#include <cstdint>
#include <vector>

#include "models/training/architecture.hpp"
#include "models/training/parallel_plan.hpp"

namespace athanor {

/// Trained numbers that one GPU computes with, before data ranks share out anything.
struct ParameterShare {
  double dense = 0;    ///< equal on the data and context ranks: their gradients are summed over data x context
  double experts = 0;  ///< equal on fewer: summed over tensor x context x data / (expert x expert_tensor)
  std::vector<LayerMatrix> matrices = {};  ///< among them, each shape once; where lists_matrices()

  double total() const { return dense + experts; }
  ParameterShare& operator+=(const ParameterShare& other);
};
ParameterShare times(ParameterShare share, double copies);

/// Whether shares name their matrices: where the optimizer, or compression of gradients, needs them.
bool lists_matrices(const ParallelPlan& plan);

ParameterShare parameter_share(const LayerParameters& layer, const Transformer& model, const ParallelPlan& plan);
/// Parameters of a layer that one GPU holds; from model.layers on, of layers of further tokens.
ParameterShare layer_share(const Transformer& model, const ParallelPlan& plan, std::uint32_t layer);
/// Dense parameters that one GPU holds of a layer's MLP, or of the shared expert beside the others.
double mlp_share(const Transformer& model, const ParallelPlan& plan, std::uint32_t layer);
/// Embedding, and output, with their matrices where the optimizer needs them.
ParameterShare share_of_embedding(const Transformer& model, const ParallelPlan& plan);
ParameterShare share_of_output(const Transformer& model, const ParallelPlan& plan, bool copy);
/// The vocabulary is split over tensor ranks; learned positions and the last norm are on each.
double embedding_share(const Transformer& model, const ParallelPlan& plan);
/// Of the vocabulary alone, without learned positions: what output and embedding share where they are tied.
double word_embedding_share(const Transformer& model, const ParallelPlan& plan);
/// Where embedding and output are tied but on different stages, the last stage holds the matrix, too: `copy`.
double output_share(const Transformer& model, const ParallelPlan& plan, bool copy);

/// Ranks over which gradients of `dense` and of `experts` are summed.
std::uint32_t dense_replicas(const ParallelPlan& plan);
std::uint32_t expert_replicas(const ParallelPlan& plan);

/// Those of `matrices` that are, or are not, of experts.
std::vector<LayerMatrix> matrices_of(const ParameterShare& held, bool experts);

/// Of `ranks` that share the optimizer out, how many get something: of matrices that must stay whole no more than there
/// are of them.
double updating_ranks(const ParameterShare& held, bool experts, double ranks, const ParallelPlan& plan);

/// Of a plain layer the one that it is, where they are listed.
std::vector<LayerMatrix> matrices_of(const PlainLayer& layer, const ParallelPlan& plan);

/// Of a transformer, or of a list.
std::uint32_t layers_of(const TrainedModel& model);

/// Places of a pipeline that have something to do: of a transformer two more than layers, since embedding and output
/// may have a place of their own.
std::uint32_t most_places(const TrainedModel& model);

/// How many layers each place of the model has. Where places do not divide them, places in the middle have one more:
/// the first and the last have embedding and output to do, too. Requires one place or more, and no more than two of
/// them, the first and the last, without a layer.
std::vector<std::uint32_t> layers_of_places(std::uint32_t layers, std::uint32_t places);

/// Whether layers_of_places() gives every place as many, where embedding and output may count as a layer each.
bool spreads_evenly(const TrainedModel& model, std::uint32_t places);

}  // namespace athanor
