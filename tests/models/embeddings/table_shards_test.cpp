#include "models/embeddings/table_shards.hpp"

#include <doctest/doctest.h>

#include "models/embeddings/sharding_plan.hpp"
#include "tests/models/embeddings/small_recommenders.hpp"

using namespace athanor;
using athanor::testing::table_of;

namespace {

constexpr EmbeddingGrid kGrid{.ranks = 4, .per_node = 2, .batch = 80};  // 20 samples a GPU

EmbeddingTraffic traffic_of(const std::vector<EmbeddingTable>& tables, const EmbeddingGrid& grid = kGrid,
                            const EmbeddingNumbers& numbers = {}) {
  return {tables, plan_sharding(tables, grid, numbers, 1e12).shards, grid, numbers};
}

}  // namespace

TEST_CASE("table-wise: whoever has a table gets everybody's indices, and sends a vector for each sample back") {
  const EmbeddingTraffic traffic = traffic_of(
      {table_of(1000, 16, 3, TableSharding::table_wise, {1}), table_of(1000, 8, 2, TableSharding::table_wise, {3})});
  for (std::uint32_t from = 0; from < 4; ++from) {
    CHECK(traffic.indices()->size(from, 0) == Elements{0});
    CHECK(traffic.indices()->size(from, 1) == Elements{20 * (3 * 8 + 4)});
    CHECK(traffic.indices()->size(from, 3) == Elements{20 * (2 * 8 + 4)});
    CHECK(traffic.pooled()->size(1, from) == Elements{20 * 16 * 4});
    CHECK(traffic.pooled()->size(3, from) == Elements{20 * 8 * 4});
    CHECK(traffic.pooled()->size(0, from) == Elements{0});
    CHECK(traffic.pooled_gradients()->size(from, 1) == Elements{20 * 16 * 4});
    CHECK(traffic.pooled_gradients()->size(from, 0) == Elements{0});
  }
  CHECK(traffic.row_wise_elements() == 0);
  CHECK_FALSE(traffic.has_node_shards());
  CHECK(traffic.between_nodes() == nullptr);
}

TEST_CASE("column-wise: each part gets all indices, and sends its columns") {
  EmbeddingNumbers numbers;
  numbers.pooled = Precision::fp16;
  numbers.gradients = Precision::bf16;
  numbers.index = 4;
  const EmbeddingTraffic traffic =
      traffic_of({table_of(1000, 16, 3, TableSharding::column_wise, {0, 2})}, kGrid, numbers);
  for (std::uint32_t from = 0; from < 4; ++from) {
    for (const std::uint32_t to : {0U, 2U}) {
      CHECK(traffic.indices()->size(from, to) == Elements{20 * (3 * 4 + 4)});
      CHECK(traffic.pooled()->size(to, from) == Elements{20 * 8 * 2});
      CHECK(traffic.pooled_gradients()->size(from, to) == Elements{20 * 8 * 2});
    }
    CHECK(traffic.indices()->size(from, 1) == Elements{0});
  }
}

TEST_CASE("row-wise: indices are spread, and sums of the whole batch are reduced and scattered") {
  const EmbeddingTraffic traffic = traffic_of({table_of(1000, 16, 3, TableSharding::row_wise)});
  for (std::uint32_t from = 0; from < 4; ++from) {
    for (std::uint32_t to = 0; to < 4; ++to) {
      CHECK(traffic.indices()->size(from, to) == Elements{20 * (3 * 8 / 4 + 4)});
    }
  }
  CHECK(traffic.row_wise_elements() == 80 * 16);
  CHECK(traffic.pooled() == nullptr);
}

TEST_CASE("table-row-wise and grid: sums in the node, then between GPUs of one number") {
  const EmbeddingTraffic traffic = traffic_of(
      {table_of(1000, 16, 3, TableSharding::table_row_wise, {3}), table_of(1000, 24, 2, TableSharding::grid, {0, 2})});
  CHECK(traffic.node_elements(0) == 80 * 12);
  CHECK(traffic.node_elements(1) == 80 * (16 + 12));
  const auto between = traffic.between_nodes();
  for (std::uint32_t from = 0; from < 4; ++from) {
    for (std::uint32_t to = 0; to < 4; ++to) {
      const std::int64_t columns = from / 2 == 0 ? 12 : 28;
      CHECK(between->size(from, to) == Elements{from % 2 == to % 2 ? 20 * columns * 4 : 0});
      CHECK(traffic.gradients_between_nodes()->size(to, from) == between->size(from, to));
      CHECK(traffic.indices()->size(from, to) ==
            Elements{to / 2 == 0 ? 20 * (2 * 8 / 2 + 4) : 20 * ((3 + 2) * 8 / 2 + 2 * 4)});
    }
  }
}

TEST_CASE("copies of a table exchange no vectors, and shards do what their rows are asked for") {
  const EmbeddingTraffic traffic = traffic_of({table_of(1000, 16, 3, TableSharding::data_parallel)});
  CHECK(traffic.indices() == nullptr);
  CHECK(traffic.pooled() == nullptr);
  const EmbeddingTable table = table_of(1000, 16, 3, TableSharding::row_wise);
  const ShardLoad whole = load_of({0, 16, TableSharding::table_wise, 1}, table, kGrid);
  CHECK(whole.rows == 1000);
  CHECK(whole.lookups == 240);
  CHECK(whole.outputs == 80);
  CHECK(whole.distinct == doctest::Approx(table.access->distinct(240)));
  CHECK(load_of({0, 16, TableSharding::row_wise}, table, kGrid).lookups == 60);
  CHECK(load_of({0, 16, TableSharding::table_row_wise}, table, kGrid).rows == 500);
  CHECK(load_of({0, 16, TableSharding::data_parallel}, table, kGrid).lookups == 60);
  CHECK(load_of({0, 16, TableSharding::data_parallel}, table, kGrid).outputs == 20);
}
