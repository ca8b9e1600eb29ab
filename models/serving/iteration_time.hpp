#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "algorithms/schedule/collective.hpp"
#include "models/serving/iteration_law.hpp"
#include "models/serving/served_model.hpp"
#include "models/training/compute_profile.hpp"
#include "models/training/kernel.hpp"
#include "sim/units.hpp"

namespace athanor {

/// What a collective of all GPUs of a replica takes, of so many bytes as Collective::count counts them.
using CallPrice = std::function<Time(CollectiveKind kind, Bytes size)>;

/// Whole numbers from 1 on at which prices are asked for: all up to 8, then four to each doubling. The greatest of them
/// that is at most n, and the least that is at least n.
struct GridPlace {
  std::uint32_t below = 1;
  std::uint32_t above = 1;
};
GridPlace grid_place(std::uint32_t n);

/// Where iterations are computed, and what they cost beside computing.
struct IterationParts {
  ServedModel served;
  GpuRates gpu;
  ComputeProfile compute;  ///< products lose nothing to their last wave of tiles here: see iteration_law()
  double streamed = 0.9;   ///< share of the memory's bandwidth at which weights and kept tokens are read
  Time overhead;           ///< of each iteration: what the host takes, while the GPU waits
  CallPrice call;          ///< asked for where several GPUs share the model; at points of the grid alone
};

/// Collectives of an iteration over so many tokens, of which `samples` give one: all-reduces of activations in 16 bits
/// behind the embedding, attention and MLP of each layer, and an all-gather of logits in 16 bits.
Bytes all_reduce_size(const ServedModel& served, std::uint32_t tokens);
Bytes all_gather_size(const ServedModel& served, std::uint32_t samples);

/// The roofline of an iteration, kernel by kernel as training has them (layer_work, time_of): each takes its operations
/// at the rate that the compute profile reaches, or its bytes, weights included, at that of the memory, whichever is
/// longer: products and attention at the streamed share, all else at the profile's. An H100 and an H200 added large
/// vectors at 0.89 to 0.91 (scenarios/measurements/kernels_h100.csv, kernels_h200.csv), and what is left of training's
/// steps, by which compute profiles are fitted, is slower. Of matrices with few rows libraries choose small tiles and
/// divide the inner side, so that no wave of tiles is left empty: ComputeProfile::waves is taken as 0. Attention of a
/// token that decodes reads all that is kept of its request; the time per kept token is rounded to a picosecond. Chunks
/// compute half a square, and read what is kept before them. Between two points of the grid of tokens collectives are
/// interpolated linearly.
///
/// Of experts, of which every GPU has its part, an iteration reads and computes those that some token chose:
/// chosen_experts(). Of latent attention prompts have keys and values made of what is kept, also of what is kept before
/// a chunk; single tokens bring their queries to what is kept, whose products take as long.
///
/// Times are remembered by their numbers. Throws as peak_of and the price.
IterationLaw iteration_law(IterationParts parts);

/// Experts of a layer that so many tokens choose together, on average, where each token chooses any of them alike:
/// E (1 - (1 - k / E)^n).
double chosen_experts(const Experts& experts, std::uint32_t tokens);

/// Attention of all layers, on one GPU, without the overhead of kernels.
Kernel chunk_attention(const ServedModel& served, std::uint32_t past, std::uint32_t tokens);
Kernel decode_attention(const ServedModel& served, double kept);

}  // namespace athanor
