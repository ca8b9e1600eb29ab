#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/training/parameter_share.hpp"

namespace athanor {

/// What one GPU trains of a layer: all that it holds, or its adapters alone.
ParameterShare trained_share(const Transformer& model, const ParallelPlan& plan, std::uint32_t layer);
/// Of them the dense ones of the MLP, or of the shared expert.
double trained_mlp_share(const Transformer& model, const ParallelPlan& plan, std::uint32_t layer);
/// Of embedding and of output; nothing beside adapters. `copy`: as output_share().
ParameterShare trained_embedding(const Transformer& model, const ParallelPlan& plan);
ParameterShare trained_output(const Transformer& model, const ParallelPlan& plan, bool copy);

/// Bytes that one GPU holds without training them.
struct FrozenBytes {
  double dense = 0;    ///< equal on data and context ranks
  double experts = 0;  ///< of routed experts
  double total() const { return dense + experts; }
  FrozenBytes& operator+=(const FrozenBytes& other);
};
/// Of a layer: its matrices in the base's precision, all else as wide as activations.
FrozenBytes frozen_bytes(const Transformer& model, const ParallelPlan& plan, std::uint32_t layer);
/// Of so many numbers of embedding or output, which stay wide.
FrozenBytes frozen_ends(double parameters, const ParallelPlan& plan);

/// Of one number in nf4: 4 bits, 8 for every 64 and 32 for every 64 x 256 of them, 4.127 bits in
/// all (Dettmers et al. 2023, QLoRA, section 3).
double nf4_bytes();

/// Bytes of the largest matrix of the layer as it is multiplied, where it is kept in fewer.
double dequantized_bytes(const Transformer& model, const ParallelPlan& plan, std::uint32_t layer);

/// Of all GPUs that hold one copy: what is trained, adapters alone or all.
double trained_parameters(const TrainedModel& model, const ParallelPlan& plan);

/// Why this model cannot have these adapters, in the user's words; empty: it can.
std::vector<std::string> contradictions_of_adapters(const Transformer& model, const ParallelPlan& plan);

}  // namespace athanor
