#pragma once

#include "models/embeddings/recommender_step.hpp"

namespace athanor::testing {

/// Looked up evenly.
EmbeddingTable table_of(std::uint64_t rows, std::uint32_t width, double lookups, TableSharding sharding,
                        std::vector<std::uint32_t> ranks = {});

/// Of numbers in fp32, whose products and other kernels reach the peaks of a GPU of 1 TFLOP/s and 1 TB/s that has
/// 100 GB/s to its host.
RecommenderSetup small_setup(RecommenderModel model, const EmbeddingGrid& grid);

}  // namespace athanor::testing
