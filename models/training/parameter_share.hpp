#pragma once

#include <cstdint>

#include "models/training/architecture.hpp"
#include "models/training/parallel_plan.hpp"

namespace athanor {

/// Trained numbers that one GPU computes with, before data ranks share out anything.
struct ParameterShare {
  double dense = 0;    ///< equal on the data and context ranks: their gradients are summed over data x context
  double experts = 0;  ///< equal on fewer: summed over tensor x context x data / (expert x expert_tensor)

  double total() const { return dense + experts; }
  ParameterShare& operator+=(const ParameterShare& other);
};

ParameterShare parameter_share(const LayerParameters& layer, const Transformer& model, const ParallelPlan& plan);
/// Parameters of a layer that one GPU holds; from model.layers on, of layers of further tokens.
ParameterShare layer_share(const Transformer& model, const ParallelPlan& plan, std::uint32_t layer);
/// Dense parameters that one GPU holds of a layer's MLP, or of the shared expert beside the others.
double mlp_share(const Transformer& model, const ParallelPlan& plan, std::uint32_t layer);
/// The vocabulary is split over tensor ranks; learned positions and the last norm are on each.
double embedding_share(const Transformer& model, const ParallelPlan& plan);
/// Of the vocabulary alone, without learned positions: what output and embedding share where they are tied.
double word_embedding_share(const Transformer& model, const ParallelPlan& plan);
/// Where embedding and output are tied but on different stages, the last stage holds the matrix, too: `copy`.
double output_share(const Transformer& model, const ParallelPlan& plan, bool copy);

/// Ranks over which gradients of `dense` and of `experts` are summed.
std::uint32_t dense_replicas(const ParallelPlan& plan);
std::uint32_t expert_replicas(const ParallelPlan& plan);

}  // namespace athanor
