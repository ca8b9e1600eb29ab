#pragma once

#include <vector>

#include "models/training/compression/compression.hpp"
#include "models/training/layer_matrices.hpp"

namespace athanor {

/// What PowerSGD makes of matrices of n x m: factors of n x rank and rank x m. Counts are of numbers, not always whole:
/// shares of several ranks.
struct LowRank {
  double matrices = 0;
  double compressed = 0;  ///< numbers of the matrices
  double left = 0;        ///< of all factors of n x rank
  double right = 0;       ///< of all factors of rank x m

  LowRank& operator+=(const LowRank& other);
};

LowRank times(LowRank part, double share);

/// Of those that shrink enough: (n + m) x rank x least_ratio < n x m (PyTorch: _should_compress of powerSGD_hook.py).
LowRank low_rank_of(const Compression& compression, const std::vector<LayerMatrix>& matrices);

}  // namespace athanor
