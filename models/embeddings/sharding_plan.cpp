#include "models/embeddings/sharding_plan.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

namespace athanor {

namespace {

constexpr std::uint32_t kLeastWidth = 32;  ///< of a column shard that is found: as of TorchRec's planner

double state_of_row(RowOptimizer optimizer, std::uint32_t width) {
  constexpr double kFp32 = 4;
  switch (optimizer) {
    case RowOptimizer::sgd: return 0;
    case RowOptimizer::rowwise_adagrad: return kFp32;
    case RowOptimizer::adagrad: return kFp32 * width;
  }
  return 0;
}

class ShardingPlanner {
 public:
  ShardingPlanner(const std::vector<EmbeddingTable>& tables, const EmbeddingGrid& grid, const EmbeddingNumbers& numbers,
                  double room)
      : tables_(tables), grid_(grid), numbers_(numbers), room_(room) {
    plan_.memory.resize(grid.ranks);
    plan_.host_memory.resize(grid.ranks);
    plan_.lookup_bytes.resize(grid.ranks);
  }

  ShardingPlan plan() {
    for (std::uint32_t t = 0; t < tables_.size(); ++t) { cut(t); }
    if (plan_.obstacle.empty()) { place_fixed(); }
    if (plan_.obstacle.empty()) { place_free(); }
    return std::move(plan_);
  }

 private:
  struct Piece {
    TableShard shard;
    std::optional<std::uint32_t> rank;  ///< that the user has named
    double bytes = 0;                   ///< that each of its GPUs reads
  };

  double row_bytes(const TableShard& shard) const { return shard.width * bytes_of(numbers_.weights); }
  double bytes_read(const TableShard& shard) const {
    return load_of(shard, tables_[shard.table], grid_).lookups * row_bytes(shard);
  }
  double memory(const TableShard& shard) const {
    return memory_of(shard, tables_[shard.table], grid_, numbers_).on_gpu;
  }

  /// A GPU's share of what all tables read.
  double fair_share() const {
    double all = 0;
    for (const EmbeddingTable& table : tables_) { all += table.lookups * table.width; }
    return all * static_cast<double>(grid_.batch) * bytes_of(numbers_.weights) / grid_.ranks;
  }

  bool suits(const TableShard& shard, double fair) const {
    return memory(shard) <= room_ && (tables_.size() < grid_.ranks || bytes_read(shard) <= fair);
  }

  TableShard found(std::uint32_t table, double fair) const {
    const std::uint32_t width = tables_[table].width;
    TableShard shard{table, width, TableSharding::table_wise};
    if (suits(shard, fair)) { return shard; }
    for (std::uint32_t parts = 2; parts <= grid_.ranks && width / parts >= kLeastWidth; ++parts) {
      shard = {table, width / parts, TableSharding::column_wise};
      if (width % parts == 0 && suits(shard, fair)) { return shard; }
    }
    shard = {table, width, TableSharding::table_wise};
    if (memory(shard) <= room_) { return shard; }
    shard.sharding = TableSharding::table_row_wise;
    if (grid_.nodes() > 1 && memory(shard) <= room_) { return shard; }
    shard.sharding = TableSharding::row_wise;
    return shard;
  }

  void cut(std::uint32_t table) {
    const EmbeddingTable& own = tables_[table];
    TableShard shard =
        own.sharding ? TableShard{table, own.width / own.column_shards, *own.sharding} : found(table, fair_share());
    const std::uint32_t parts = own.width / shard.width;
    for (std::uint32_t i = 0; i < parts; ++i) {
      Piece piece{shard, {}, bytes_read(shard)};
      if (!own.ranks.empty()) { piece.rank = own.ranks[i]; }
      pieces_.push_back(piece);
    }
  }

  void put(TableShard shard, std::uint32_t rank) {
    shard.rank = rank;
    shard.rank = first_holder(shard, grid_);
    const ShardMemory memory = memory_of(shard, tables_[shard.table], grid_, numbers_);
    const double bytes = bytes_read(shard);
    for (std::uint32_t i = 0; i < holders(shard, grid_); ++i) {
      plan_.memory[shard.rank + i] += memory.on_gpu;
      plan_.host_memory[shard.rank + i] += memory.on_host;
      plan_.lookup_bytes[shard.rank + i] += bytes;
    }
    plan_.shards.push_back(shard);
  }

  void refuse(const TableShard& shard, double least) {
    const EmbeddingTable& table = tables_[shard.table];
    plan_.table = shard.table;
    plan_.obstacle = fmt::format(
        "table {} needs {:.2f} GB on a GPU ({}), and of the {:.2f} GB that a GPU has for tables at most "
        "{:.2f} GB are left",
        table.name, memory(shard) * 1e-9, name(shard.sharding), room_ * 1e-9, std::max(0.0, least) * 1e-9);
  }

  void place_fixed() {
    for (const Piece& piece : pieces_) {
      const bool everywhere = !piece.shard.whole() && !piece.shard.by_node();
      if (everywhere || piece.rank) { put(piece.shard, piece.rank.value_or(0)); }
    }
    const auto fullest = std::max_element(plan_.memory.begin(), plan_.memory.end());
    if (*fullest <= room_) { return; }
    plan_.obstacle = fmt::format("tables need {:.2f} GB on GPU {}, and a GPU has {:.2f} GB for them", *fullest * 1e-9,
                                 fullest - plan_.memory.begin(), room_ * 1e-9);
  }

  /// The busiest GPU of those that would hold it counts, and the fullest.
  std::optional<std::uint32_t> best_place(const TableShard& shard, double& most_room) const {
    std::optional<std::uint32_t> best;
    double least = 0;
    const double needed = memory(shard);
    const std::uint32_t step = shard.by_node() ? grid_.per_node : 1;
    for (std::uint32_t first = 0; first < grid_.ranks; first += step) {
      const auto range = [&](const std::vector<double>& of) {
        return *std::max_element(of.begin() + first, of.begin() + first + step);
      };
      most_room = std::max(most_room, room_ - range(plan_.memory));
      if (range(plan_.memory) + needed > room_ || holds_part(shard, first, step)) { continue; }
      const double busy = range(plan_.lookup_bytes);
      if (!best || busy < least) {
        best = first;
        least = busy;
      }
    }
    return best;
  }

  /// Column shards of one table on one GPU would be one shard.
  bool holds_part(const TableShard& shard, std::uint32_t first, std::uint32_t count) const {
    return std::any_of(own_shards_.begin(), own_shards_.end(), [&](const TableShard& other) {
      return other.table == shard.table && other.rank >= first && other.rank < first + count;
    });
  }

  void place_free() {
    std::vector<Piece> free;
    for (const Piece& piece : pieces_) {
      const bool everywhere = !piece.shard.whole() && !piece.shard.by_node();
      if (!everywhere && !piece.rank) { free.push_back(piece); }
    }
    std::stable_sort(free.begin(), free.end(), [](const Piece& a, const Piece& b) { return a.bytes > b.bytes; });
    for (const Piece& piece : free) {
      if (own_shards_.empty() || own_shards_.front().table != piece.shard.table) { own_shards_.clear(); }
      double most_room = 0;
      const auto place = best_place(piece.shard, most_room);
      if (!place) { return refuse(piece.shard, most_room); }
      put(piece.shard, *place);
      own_shards_.push_back(plan_.shards.back());
    }
  }

  const std::vector<EmbeddingTable>& tables_;
  const EmbeddingGrid& grid_;
  const EmbeddingNumbers& numbers_;
  double room_;
  std::vector<Piece> pieces_;
  TableShards own_shards_;  ///< of the table that is being placed
  ShardingPlan plan_;
};

}  // namespace

ShardMemory memory_of(const TableShard& shard, const EmbeddingTable& table, const EmbeddingGrid& grid,
                      const EmbeddingNumbers& numbers) {
  const double rows = load_of(shard, table, grid).rows;
  const double row = shard.width * bytes_of(numbers.weights);
  const double whole = rows * (row + state_of_row(numbers.optimizer, shard.width));
  if (!table.kept) {
    const double gradient = shard.sharding == TableSharding::data_parallel ? rows * shard.width * 4 : 0;
    return {whole + gradient, 0};
  }
  return {whole * *table.kept, whole};
}

double ShardingPlan::most_memory() const { return *std::max_element(memory.begin(), memory.end()); }

double ShardingPlan::imbalance() const {
  const double all = std::accumulate(lookup_bytes.begin(), lookup_bytes.end(), 0.0);
  const double most = *std::max_element(lookup_bytes.begin(), lookup_bytes.end());
  return all > 0 ? most * static_cast<double>(lookup_bytes.size()) / all : 1;
}

ShardingPlan plan_sharding(const std::vector<EmbeddingTable>& tables, const EmbeddingGrid& grid,
                           const EmbeddingNumbers& numbers, double room) {
  return ShardingPlanner(tables, grid, numbers, room).plan();
}

}  // namespace athanor
