#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "algorithms/schedule/all_to_all_v_sizes.hpp"
#include "models/embeddings/embedding_table.hpp"

namespace athanor {

/// GPUs by rank, as many in each node, one node after the other, and their share of a batch.
struct EmbeddingGrid {
  std::uint32_t ranks = 1;
  std::uint32_t per_node = 1;  ///< divides the ranks
  std::uint64_t batch = 1;     ///< samples of all ranks together; a multiple of the ranks

  std::uint32_t nodes() const { return ranks / per_node; }
  std::uint32_t node_of(std::uint32_t rank) const { return rank / per_node; }
  std::uint64_t own_batch() const { return batch / ranks; }
};

/// Some columns of one table, on one GPU, the GPUs of one node, or all.
struct TableShard {
  std::uint32_t table = 0;
  std::uint32_t width = 0;
  TableSharding sharding = TableSharding::table_wise;
  std::uint32_t rank = 0;  ///< of table_row_wise and grid: the first of the node; of row_wise and data_parallel 0

  /// Whether one GPU has all of its rows, and others have none.
  bool whole() const { return sharding == TableSharding::table_wise || sharding == TableSharding::column_wise; }
  bool by_node() const { return sharding == TableSharding::table_row_wise || sharding == TableSharding::grid; }
};

using TableShards = std::vector<TableShard>;

/// GPUs that hold a shard: from the first on, so many.
std::uint32_t first_holder(const TableShard& shard, const EmbeddingGrid& grid);
std::uint32_t holders(const TableShard& shard, const EmbeddingGrid& grid);

/// What a GPU of those that hold a shard has and does of it in a step, besides what every GPU does.
struct ShardLoad {
  double rows = 0;      ///< that it holds
  double lookups = 0;   ///< in its rows
  double outputs = 0;   ///< sums that it makes, some of them of nothing
  double distinct = 0;  ///< rows that it updates: expected
};

/// Rows are taken to be spread at random, so that each part of a table gets its share of look-ups.
ShardLoad load_of(const TableShard& shard, const EmbeddingTable& table, const EmbeddingGrid& grid);

/// What shards exchange in a step.
class EmbeddingTraffic {
 public:
  EmbeddingTraffic(const std::vector<EmbeddingTable>& tables, const TableShards& shards, const EmbeddingGrid& grid,
                   const EmbeddingNumbers& numbers);

  /// Indices and lengths from each rank that has samples to each that has a shard.
  std::shared_ptr<const AllToAllVSizes> indices() const;
  /// Pooled vectors of table_wise and column_wise shards, in bytes; null: there are none.
  std::shared_ptr<const AllToAllVSizes> pooled() const { return whole(numbers_.pooled, false); }
  /// Gradients of these, which go back.
  std::shared_ptr<const AllToAllVSizes> pooled_gradients() const { return whole(numbers_.gradients, true); }
  /// What all ranks reduce and scatter of row_wise shards: the whole, in elements. 0: there are none.
  std::int64_t row_wise_elements() const;
  /// What the ranks of a node reduce and scatter of its own shards: the whole, in elements.
  std::int64_t node_elements(std::uint32_t node) const;
  bool has_node_shards() const;
  /// What follows: from each rank of a node to that of the same number in each other node. Null: nothing.
  std::shared_ptr<const AllToAllVSizes> between_nodes() const { return across(numbers_.pooled, false); }
  std::shared_ptr<const AllToAllVSizes> gradients_between_nodes() const { return across(numbers_.gradients, true); }

 private:
  struct Amount {
    double columns = 0;
    double features = 0;
    double lookups = 0;
    void add(const TableShard& shard, const EmbeddingTable& table);
  };

  std::int64_t index_bytes(std::uint32_t to) const;
  std::shared_ptr<const AllToAllVSizes> whole(Precision precision, bool back) const;
  std::shared_ptr<const AllToAllVSizes> across(Precision precision, bool back) const;

  EmbeddingGrid grid_;
  EmbeddingNumbers numbers_;
  std::vector<Amount> of_rank_;  ///< of whole shards
  std::vector<Amount> of_node_;
  Amount row_wise_;
};

}  // namespace athanor
