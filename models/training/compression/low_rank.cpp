#include "models/training/compression/low_rank.hpp"

namespace athanor {

LowRank& LowRank::operator+=(const LowRank& other) {
  matrices += other.matrices;
  compressed += other.compressed;
  left += other.left;
  right += other.right;
  return *this;
}

LowRank times(LowRank part, double share) {
  part.matrices *= share;
  part.compressed *= share;
  part.left *= share;
  part.right *= share;
  return part;
}

LowRank low_rank_of(const Compression& compression, const std::vector<LayerMatrix>& matrices) {
  LowRank sum;
  for (const LayerMatrix& matrix : matrices) {
    const double rank = compression.rank;
    if ((matrix.in + matrix.out) * rank * to_double(compression.least_ratio) >= matrix.in * matrix.out) { continue; }
    sum += {matrix.count, matrix.elements(), matrix.count * rank * matrix.out, matrix.count * rank * matrix.in};
  }
  return sum;
}

}  // namespace athanor
