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

LowRank low_rank_of(const Compression& compression, double rows, double columns, double matrices) {
  const double rank = compression.rank;
  if ((rows + columns) * rank * to_double(compression.least_ratio) >= rows * columns) { return {}; }
  return {matrices, matrices * rows * columns, matrices * rank * rows, matrices * rank * columns};
}

}  // namespace athanor
