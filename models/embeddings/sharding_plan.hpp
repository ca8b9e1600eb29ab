#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/embeddings/table_shards.hpp"

namespace athanor {

/// What of a table that a GPU holds lies in its own memory, and what in the host's, in bytes, with the optimizer's
/// numbers of its rows.
struct ShardMemory {
  double on_gpu = 0;
  double on_host = 0;
};

ShardMemory memory_of(const TableShard& shard, const EmbeddingTable& table, const EmbeddingGrid& grid,
                      const EmbeddingNumbers& numbers);

/// Which GPU holds what, or why no plan was found.
struct ShardingPlan {
  TableShards shards;
  std::vector<double> memory;          ///< by rank, on the GPU
  std::vector<double> host_memory;     ///< by rank
  std::vector<double> lookup_bytes;    ///< by rank: what a step reads of rows
  std::string obstacle;                ///< "": a plan
  std::optional<std::uint32_t> table;  ///< that it is about

  double most_memory() const;
  /// The busiest GPU's look-ups over the mean: 1 where all have as much.
  double imbalance() const;
};

/// Gives each table to GPUs. Tables whose sharding is not said are table_wise where they fit and read no more than a
/// GPU's share of all look-ups; else column_wise in as few parts of at least 32 elements as do, else table_row_wise,
/// else row_wise. Column shards without ranks go, the one that reads most first, to the GPU (or node) that reads least
/// so far and has room, as TorchRec's greedy partitioner does (LPT); of equal ones to the first. `room`: bytes of a GPU
/// for tables.
ShardingPlan plan_sharding(const std::vector<EmbeddingTable>& tables, const EmbeddingGrid& grid,
                           const EmbeddingNumbers& numbers, double room);

}  // namespace athanor
