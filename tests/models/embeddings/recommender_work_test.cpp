#include <doctest/doctest.h>

#include "models/embeddings/recommender.hpp"
#include "tests/models/embeddings/small_recommenders.hpp"

using namespace athanor;
using athanor::testing::table_of;

namespace {

RecommenderModel model_of(FeatureInteraction interaction) {
  RecommenderModel model;
  model.dense_features = 13;
  model.bottom = {32, 16};
  model.top = {64, 1};
  model.interaction = interaction;
  model.cross_layers = 3;
  model.cross_rank = 8;
  model.tables.assign(4, table_of(100, 16, 1, TableSharding::table_wise));
  return model;
}

double flops(const Kernels& kernels) {
  double sum = 0;
  for (const Kernel& kernel : kernels) { sum += kernel.flops; }
  return sum;
}

}  // namespace

TEST_CASE("pairs of vectors stand beside what the bottom MLP gives") {
  CHECK(interaction_inputs(model_of(FeatureInteraction::dot)) == 5 * 16);
  CHECK(interaction_outputs(model_of(FeatureInteraction::dot)) == 16 + 5 * 4 / 2);
  CHECK(interaction_outputs(model_of(FeatureInteraction::concat)) == 5 * 16);
  RecommenderModel sparse = model_of(FeatureInteraction::dot);
  sparse.bottom.clear();
  CHECK(interaction_outputs(sparse) == 4 * 3 / 2);
}

TEST_CASE("trained numbers of DLRM on the data of Criteo are those of its layers") {
  RecommenderModel model = model_of(FeatureInteraction::dot);
  CHECK(bottom_parameters(model) == 14 * 32 + 33 * 16);
  CHECK(top_parameters(model) == 27 * 64 + 65);
  model = model_of(FeatureInteraction::cross);
  CHECK(top_parameters(model) == 3 * (2 * 80 * 8 + 80) + 81 * 64 + 65);
}

TEST_CASE("backward multiplies twice as much as forward, but for gradients of dense features that nobody wants") {
  const RecommenderModel model = model_of(FeatureInteraction::dot);
  const DenseKernels kernels = dense_kernels(model, 100, Precision::fp32, true);
  CHECK(flops(kernels.bottom_forward) == 2 * 100 * (13 * 32 + 32 * 16));
  CHECK(flops(kernels.bottom_backward) == 2 * 100 * (13 * 32 + 2 * 32 * 16));
  CHECK(flops(kernels.top_forward) == 2 * 100 * (26 * 64 + 64));
  CHECK(flops(kernels.top_backward) == 2 * flops(kernels.top_forward));
  const DenseKernels crossed = dense_kernels(model_of(FeatureInteraction::cross), 100, Precision::fp32, true);
  CHECK(flops(crossed.top_forward) == 2 * 100 * (3 * 2 * 80 * 8 + 80 * 64 + 64));
  CHECK(flops(crossed.top_backward) == 2 * flops(crossed.top_forward));
}

TEST_CASE("look-ups read indices and rows and write sums; updates sort, and touch each row once") {
  constexpr EmbeddingGrid kGrid{.ranks = 2, .per_node = 2, .batch = 20};
  EmbeddingNumbers numbers;
  numbers.pooled = Precision::fp16;
  const std::vector<EmbeddingTable> tables{table_of(100, 16, 3, TableSharding::table_wise, {1})};
  const TableShards shards{{0, 16, TableSharding::table_wise, 1}};
  const std::vector<EmbeddingBytes> bytes = embedding_bytes(tables, shards, kGrid, numbers);
  CHECK(bytes[0].forward == 0);
  CHECK(bytes[0].backward == 0);
  CHECK(bytes[1].forward == 60 * 8 + 60 * 16 * 4 + 20 * 16 * 2);
  const double distinct = tables[0].access->distinct(60);
  CHECK(bytes[1].backward == doctest::Approx(60 * 2 * 12 + 60 * 16 * 4 + distinct * (2 * 16 * 4 + 8)));
  numbers.optimizer = RowOptimizer::sgd;
  CHECK(embedding_bytes(tables, shards, kGrid, numbers)[1].backward ==
        doctest::Approx(60 * 2 * 12 + 60 * 16 * 4 + distinct * 2 * 16 * 4));
  CHECK(bytes[1].host_forward == 0);
}

TEST_CASE("rows of a table in the host's memory cross the link at each look-up, or when they come into a cache") {
  constexpr EmbeddingGrid kGrid{.ranks = 2, .per_node = 2, .batch = 20};
  const EmbeddingNumbers numbers{.optimizer = RowOptimizer::sgd};
  std::vector<EmbeddingTable> tables{table_of(100, 16, 3, TableSharding::table_wise, {1})};
  const TableShards shards{{0, 16, TableSharding::table_wise, 1}};
  const double distinct = tables[0].access->distinct(60);
  tables[0].kept = 0;
  EmbeddingBytes bytes = embedding_bytes(tables, shards, kGrid, numbers)[1];
  CHECK(bytes.host_forward == 60 * 16 * 4);
  CHECK(bytes.host_backward == doctest::Approx(distinct * 16 * 4));
  CHECK(bytes.forward == 60 * 8 + 20 * 16 * 4);
  tables[0].kept = 0.5;
  tables[0].policy = RowCachePolicy::lfu;
  bytes = embedding_bytes(tables, shards, kGrid, numbers)[1];
  CHECK(bytes.host_forward == 0);
  CHECK(bytes.host_fetch == doctest::Approx(30 * 16 * 4));
  CHECK(bytes.forward == doctest::Approx(60 * 8 + 60 * 16 * 4 + 20 * 16 * 4 + 2 * 30 * 16 * 4));
}
