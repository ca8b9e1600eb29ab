#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/embeddings/access_law.hpp"
#include "models/embeddings/cache_hits.hpp"
#include "models/training/parallel_plan.hpp"

namespace athanor {

/// How a table is spread over GPUs, by TorchRec's names (Ivchenko et al., TorchRec: a PyTorch domain library for
/// recommendation systems, RecSys 2022).
enum class TableSharding : std::uint8_t {
  data_parallel,   ///< each GPU has all of it
  table_wise,      ///< one GPU has all of it
  column_wise,     ///< several GPUs have some of its columns each
  row_wise,        ///< every GPU has some of its rows
  table_row_wise,  ///< every GPU of one node has some of its rows
  grid,            ///< several nodes have some of its columns each, and every GPU of such a node some rows of these
};

std::string_view name(TableSharding sharding);

/// A table of vectors, some rows of which each sample looks up; their sum is what goes on ("pooled").
struct EmbeddingTable {
  std::string name;
  std::uint64_t rows = 1;
  std::uint32_t width = 1;  ///< elements of a row
  double lookups = 1;       ///< of a sample, on average
  std::shared_ptr<const AccessLaw> access;
  std::optional<double> kept;  ///< share of its rows that GPUs keep of a table in the host's memory; none: all on GPUs
  RowCachePolicy policy = RowCachePolicy::lru;  ///< where it is kept in part
  std::optional<TableSharding> sharding;        ///< none: it is found
  std::uint32_t column_shards = 1;              ///< of column_wise and grid
  std::vector<std::uint32_t> ranks{};           ///< a GPU for each column shard; grid, table_row_wise: of its node
};

/// How rows are updated.
enum class RowOptimizer : std::uint8_t {
  sgd,
  rowwise_adagrad,  ///< a number in fp32 for each row
  adagrad,          ///< one for each element
};

std::string_view name(RowOptimizer optimizer);

/// In which numbers tables are kept and exchanged.
struct EmbeddingNumbers {
  Precision weights = Precision::fp32;
  Precision pooled = Precision::fp32;     ///< of pooled vectors, as they are exchanged
  Precision gradients = Precision::fp32;  ///< of their gradients
  std::uint32_t index = 8;                ///< bytes of an index
  std::uint32_t length = 4;               ///< bytes of how many look-ups a sample has of a table
  RowOptimizer optimizer = RowOptimizer::rowwise_adagrad;
};

}  // namespace athanor
