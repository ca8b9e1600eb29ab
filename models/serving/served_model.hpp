#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/training/architecture.hpp"
#include "models/training/compute_profile.hpp"
#include "models/training/parallel_plan.hpp"

namespace athanor {

/// A model as it is served, on each of the GPUs that share it.
struct ServedModel {
  Transformer model;
  std::uint32_t tensor = 1;                  ///< GPUs that share every layer: of experts each has its part of every one
  Precision precision = Precision::bf16;     ///< of weights of layers, and of their products: 16 bits or fp8
  Precision kv_precision = Precision::bf16;  ///< of kept keys and values: 16 bits or fp8
};

/// What of the model is not simulated, and how its layers cannot be shared so, in the user's words; empty: nothing.
/// Windows of attention are not.
std::vector<std::string> obstacles(const ServedModel& served);

/// As training has it: one sequence of so many tokens.
ParallelPlan plan_of(const ServedModel& served, std::uint32_t tokens);

/// Bytes of weights that one GPU holds: matrices of layers in `precision`; embedding, output, norms and biases of
/// outputs in 16 bits.
double weight_bytes(const ServedModel& served);

/// Bytes that one GPU keeps of a token: 2 x layers x (KV heads that it has) x head size x bytes of a number. Where
/// there are more GPUs than KV heads, each has one. Of latent attention (DeepSeek-V2, 2024, section 2.1) layers x
/// (compressed keys and values, and the rotary part of the one key) x bytes, on every GPU.
double kept_bytes(const ServedModel& served);

/// Pages of so many tokens that fit beside the weights into a share of the memory, as vLLM's gpu_memory_utilization
/// counts it; 0: the weights alone do not fit. What activations and the CUDA context take is not counted.
std::uint64_t pages_that_fit(const ServedModel& served, const GpuRates& gpu, double memory_share, std::uint32_t page);

}  // namespace athanor
