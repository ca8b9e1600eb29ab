#include "models/training/low_rank_share.hpp"

namespace athanor {

LowRank low_rank_share(const Compression& compression, const std::vector<LayerMatrix>& matrices) {
  LowRank sum;
  for (const LayerMatrix& matrix : matrices) { sum += low_rank_of(compression, matrix.out, matrix.in, matrix.count); }
  return sum;
}

}  // namespace athanor
