#include "models/training/compression/compression.hpp"

namespace athanor {

std::string_view name(CompressionKind kind) {
  switch (kind) {
    case CompressionKind::none: return "none";
    case CompressionKind::fp16: return "fp16";
    case CompressionKind::bf16: return "bf16";
    case CompressionKind::fp8: return "fp8";
    case CompressionKind::int8: return "int8";
    case CompressionKind::top_k: return "top_k";
    case CompressionKind::power_sgd: return "power_sgd";
    case CompressionKind::one_bit_adam: return "one_bit_adam";
    case CompressionKind::zero_plus_plus: return "zero_plus_plus";
  }
  return "";
}

}  // namespace athanor
