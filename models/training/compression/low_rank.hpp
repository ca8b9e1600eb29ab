#pragma once

#include "models/training/compression/compression.hpp"

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

/// Of so many matrices of these sides, where they shrink enough: (rows + columns) x rank x least_ratio < rows x columns
/// (PyTorch: _should_compress of powerSGD_hook.py); else nothing.
LowRank low_rank_of(const Compression& compression, double rows, double columns, double matrices);

}  // namespace athanor
