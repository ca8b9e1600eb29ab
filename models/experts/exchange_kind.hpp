#pragma once

#include <cstdint>
#include <string_view>

namespace athanor {

/// How tokens get to experts and back.
enum class ExchangeKind : std::uint8_t {
  pairwise,     ///< an all-to-all of the collective library: every choice of a token is sent
  deep_ep,      ///< once to each node, by the network from GPU i to GPU i, and on to GPUs that have its experts
  hybrid_ep,    ///< the same routes by NVIDIA's kernels
  low_latency,  ///< every choice at once to the GPU that has the expert, without forwarding
};

/// "pairwise", "deep_ep", "hybrid_ep", "low_latency".
std::string_view name(ExchangeKind kind);

/// In what tokens are on their way to experts.
enum class DispatchPrecision : std::uint8_t {
  bf16,
  fp8,  ///< with a scale of four bytes for 128 elements
};

/// "bf16", "fp8".
std::string_view name(DispatchPrecision precision);

}  // namespace athanor
