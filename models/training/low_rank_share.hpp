#pragma once

#include <vector>

#include "models/training/compression/low_rank.hpp"
#include "models/training/layer_matrices.hpp"

namespace athanor {

/// Of those of the matrices that shrink enough.
LowRank low_rank_share(const Compression& compression, const std::vector<LayerMatrix>& matrices);

}  // namespace athanor
