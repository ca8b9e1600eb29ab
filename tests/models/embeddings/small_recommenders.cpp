#include "tests/models/embeddings/small_recommenders.hpp"

namespace athanor::testing {

EmbeddingTable table_of(std::uint64_t rows, std::uint32_t width, double lookups, TableSharding sharding,
                        std::vector<std::uint32_t> ranks) {
  EmbeddingTable table;
  table.name = "t";
  table.rows = rows;
  table.width = width;
  table.lookups = lookups;
  table.access = std::make_shared<const AccessLaw>(AccessLaw::uniform(rows));
  table.sharding = sharding;
  table.column_shards = sharding == TableSharding::column_wise || sharding == TableSharding::grid
                            ? static_cast<std::uint32_t>(std::max<std::size_t>(1, ranks.size()))
                            : 1;
  table.ranks = std::move(ranks);
  return table;
}

RecommenderSetup small_setup(RecommenderModel model, const EmbeddingGrid& grid) {
  RecommenderSetup setup;
  setup.model = std::move(model);
  setup.grid = grid;
  setup.shards = plan_sharding(setup.model.tables, grid, setup.numbers, 1e12).shards;
  setup.gpu.flops = {{Precision::fp32, 1e12}};
  setup.gpu.memory_bandwidth = 1e12;
  setup.gpu.memory = 1e12;
  setup.gpu.host_bandwidth = 1e11;
  setup.compute.gemm = {1, 0};
  setup.compute.waves = 0;
  setup.compute.memory = 1;
  return setup;
}

}  // namespace athanor::testing
