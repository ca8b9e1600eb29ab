#include "models/training/compression/compression_memory.hpp"

namespace athanor {

double kept_for_coding(const Compression& compression, const GradientPart& all, const CodingPlace& place) {
  constexpr double kWide = 4;
  switch (compression.kind) {
    case CompressionKind::top_k: return compression.error_feedback ? place.gradient_bytes * all.numbers : 0;
    case CompressionKind::power_sgd:
      return place.gradient_bytes *
             (all.low_rank.left + all.low_rank.right + (compression.error_feedback ? all.low_rank.compressed : 0));
    case CompressionKind::one_bit_adam: return kWide * all.numbers * (1 + 1 / place.ranks);
    case CompressionKind::none:
    case CompressionKind::fp16:
    case CompressionKind::bf16:
    case CompressionKind::fp8:
    case CompressionKind::int8:
    case CompressionKind::zero_plus_plus: break;
  }
  return 0;
}

double coding_buffers(const Compression& compression, const GradientPart& part, const CodingPlace& place) {
  constexpr double kPlace = 4;
  const double g = place.gradient_bytes;
  switch (compression.kind) {
    case CompressionKind::none: return 0;
    case CompressionKind::fp16:
    case CompressionKind::bf16: return 2 * part.numbers;
    case CompressionKind::fp8:
    case CompressionKind::int8: return 2 * quantized_bytes(compression, 8) * part.numbers;
    case CompressionKind::top_k:
      return (place.ranks + 1) * to_double(compression.density) * part.numbers * (g + kPlace);
    case CompressionKind::power_sgd:
      // Vectors are packed; of matrices a copy stays until their product is taken from it.
      return g * (compression.error_feedback ? part.numbers : part.numbers - part.low_rank.compressed);
    case CompressionKind::one_bit_adam: return 2 * (part.numbers / 8 + 4 * place.ranks);
    case CompressionKind::zero_plus_plus:
      return compression.quantized_gradients ? 2 * quantized_bytes(compression, 4) * part.numbers : 0;
  }
  return 0;
}

}  // namespace athanor
