#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/embeddings/sharding_plan.hpp"
#include "models/training/compute_profile.hpp"
#include "models/training/kernel.hpp"

namespace athanor {

/// How vectors of features meet.
enum class FeatureInteraction : std::uint8_t {
  dot,     ///< products of all pairs, beside what the bottom MLP gives (Naumov et al., DLRM, arXiv 1906.00091)
  concat,  ///< none: one after the other
  cross,   ///< cross layers of low rank on all of them (Wang et al., DCN V2, WWW 2021)
};

std::string_view name(FeatureInteraction interaction);

/// What is trained: numbers go through a bottom MLP, indices through tables; both meet, and a top MLP follows.
struct RecommenderModel {
  std::string name = "recommender";
  std::uint32_t dense_features = 0;
  std::vector<std::uint32_t> bottom;  ///< widths of layers; empty: there are no dense features
  std::vector<std::uint32_t> top;
  FeatureInteraction interaction = FeatureInteraction::dot;
  std::uint32_t cross_layers = 3;
  std::uint32_t cross_rank = 512;
  std::vector<EmbeddingTable> tables;
};

/// Elements that go into the interaction, of a sample.
double interaction_inputs(const RecommenderModel& model);
/// Elements that come out of it.
double interaction_outputs(const RecommenderModel& model);
/// Trained numbers outside of tables: of the bottom MLP, and of all that follows.
double bottom_parameters(const RecommenderModel& model);
double top_parameters(const RecommenderModel& model);

/// What the GPU computes of a step outside of tables.
struct DenseKernels {
  Kernels bottom_forward;
  Kernels top_forward;   ///< from the interaction on
  Kernels top_backward;  ///< to it
  Kernels bottom_backward;
  Kernels update;  ///< SGD in fp32
};

/// Biases are added by products. `fused`: forward they compute ReLU, too, and a kernel does its backward and sums up
/// the gradient of biases; else each is a kernel of its own, from memory to memory, as PyTorch runs them eagerly.
DenseKernels dense_kernels(const RecommenderModel& model, double samples, Precision precision, bool fused);

/// Bytes that a GPU's memory carries for tables in a step, and the link to the host's.
struct EmbeddingBytes {
  double forward = 0;
  double backward = 0;       ///< with the update of rows, which is fused with it
  double host_forward = 0;   ///< that come from the host
  double host_backward = 0;  ///< that go to it, or come and go
  double host_fetch = 0;     ///< rows that come into caches while as many go back: may be done before the step
};

/// By rank. Forward reads indices and rows and writes sums. Backward sorts indices (radix sort of 8 bits a pass: keys
/// and places are read and written in each), reads a gradient for each look-up, reads and writes each row that was
/// looked up once, and the optimizer's numbers of it. A row of a table in the host's memory without a cache crosses the
/// link at each look-up; of a table with a cache when it comes in.
std::vector<EmbeddingBytes> embedding_bytes(const std::vector<EmbeddingTable>& tables, const TableShards& shards,
                                            const EmbeddingGrid& grid, const EmbeddingNumbers& numbers);

}  // namespace athanor
