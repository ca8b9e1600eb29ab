#include "models/embeddings/sharding_plan.hpp"

#include <doctest/doctest.h>

#include "tests/models/embeddings/small_recommenders.hpp"

using namespace athanor;
using athanor::testing::table_of;

namespace {

EmbeddingTable free_table(std::uint64_t rows, std::uint32_t width, double lookups) {
  EmbeddingTable table = table_of(rows, width, lookups, TableSharding::table_wise);
  table.sharding.reset();
  return table;
}

constexpr EmbeddingNumbers kNumbers{.optimizer = RowOptimizer::sgd};

}  // namespace

TEST_CASE("the table that reads most goes to the GPU that reads least") {
  constexpr EmbeddingGrid kGrid{.ranks = 2, .per_node = 2, .batch = 2};
  std::vector<EmbeddingTable> tables;
  for (const double lookups : {3.0, 5.0, 4.0, 2.0}) {
    tables.push_back(table_of(100, 32, lookups, TableSharding::table_wise));
  }
  const ShardingPlan plan = plan_sharding(tables, kGrid, kNumbers, 1e9);
  REQUIRE(plan.obstacle.empty());
  CHECK(plan.lookup_bytes == std::vector<double>{2 * (5 + 2) * 32 * 4, 2 * (4 + 3) * 32 * 4});
  CHECK(plan.memory == std::vector<double>{2 * 100 * 32 * 4, 2 * 100 * 32 * 4});
  CHECK(plan.imbalance() == 1);
}

TEST_CASE("what does not fit on one GPU is cut by columns, then by rows of a node, then by rows of all") {
  constexpr EmbeddingGrid kGrid{.ranks = 4, .per_node = 2, .batch = 4};
  const auto kind = [&](double room) {
    const ShardingPlan plan = plan_sharding({free_table(100, 64, 1)}, kGrid, kNumbers, room);
    REQUIRE(plan.obstacle.empty());
    CHECK(plan.most_memory() <= room);
    return plan.shards.front().sharding;
  };
  CHECK(kind(25'600) == TableSharding::table_wise);
  CHECK(kind(25'599) == TableSharding::column_wise);
  CHECK(kind(12'800) == TableSharding::column_wise);
  CHECK(plan_sharding({free_table(100, 32, 1)}, kGrid, kNumbers, 6'400).shards.front().sharding ==
        TableSharding::table_row_wise);
  CHECK(plan_sharding({free_table(100, 32, 1)}, kGrid, kNumbers, 6'399).shards.front().sharding ==
        TableSharding::row_wise);
}

TEST_CASE("column shards of a table are on different GPUs") {
  constexpr EmbeddingGrid kGrid{.ranks = 4, .per_node = 2, .batch = 4};
  EmbeddingTable table = free_table(100, 128, 1);
  table.sharding = TableSharding::column_wise;
  table.column_shards = 4;
  const ShardingPlan plan = plan_sharding({table}, kGrid, kNumbers, 1e9);
  REQUIRE(plan.shards.size() == 4);
  for (std::uint32_t i = 0; i < 4; ++i) { CHECK(plan.shards[i].rank == i); }
  CHECK(plan.memory == std::vector<double>(4, 100 * 32 * 4));
}

TEST_CASE("tables that fit nowhere are named, with what they need") {
  constexpr EmbeddingGrid kGrid{.ranks = 2, .per_node = 2, .batch = 2};
  EmbeddingTable table = table_of(1'000'000'000, 64, 1, TableSharding::table_wise);
  table.name = "users";
  const ShardingPlan free = plan_sharding({table}, kGrid, kNumbers, 80e9);
  CHECK(free.table == 0);
  CHECK(free.obstacle ==
        "table users needs 256.00 GB on a GPU (table_wise), and of the 80.00 GB that a GPU has for tables at most "
        "80.00 GB are left");
  table.ranks = {1};
  CHECK(plan_sharding({table}, kGrid, kNumbers, 80e9).obstacle ==
        "tables need 256.00 GB on GPU 1, and a GPU has 80.00 GB for them");
}

TEST_CASE("memory holds rows, the optimizer's numbers, and of caches the rows that are kept") {
  constexpr EmbeddingGrid kGrid{.ranks = 4, .per_node = 2, .batch = 4};
  EmbeddingTable table = table_of(1000, 16, 1, TableSharding::row_wise);
  EmbeddingNumbers numbers{.weights = Precision::fp16, .optimizer = RowOptimizer::rowwise_adagrad};
  const TableShard shard{0, 16, TableSharding::row_wise};
  CHECK(memory_of(shard, table, kGrid, numbers).on_gpu == 250 * (16 * 2 + 4));
  numbers.optimizer = RowOptimizer::adagrad;
  CHECK(memory_of(shard, table, kGrid, numbers).on_gpu == 250 * (16 * 2 + 16 * 4));
  table.kept = 0.25;
  CHECK(memory_of(shard, table, kGrid, numbers).on_gpu == 250 * (16 * 2 + 16 * 4) / 4);
  CHECK(memory_of(shard, table, kGrid, numbers).on_host == 250 * (16 * 2 + 16 * 4));
  table.kept.reset();
  numbers.optimizer = RowOptimizer::sgd;
  CHECK(memory_of({0, 16, TableSharding::data_parallel}, table, kGrid, numbers).on_gpu == 1000 * 16 * (2 + 4));
}
