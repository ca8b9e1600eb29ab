#include "models/embeddings/table_shards.hpp"

#include <algorithm>
#include <cmath>

namespace athanor {

std::string_view name(TableSharding sharding) {
  switch (sharding) {
    case TableSharding::data_parallel: return "data_parallel";
    case TableSharding::table_wise: return "table_wise";
    case TableSharding::column_wise: return "column_wise";
    case TableSharding::row_wise: return "row_wise";
    case TableSharding::table_row_wise: return "table_row_wise";
    case TableSharding::grid: return "grid";
  }
  return "";
}

std::string_view name(RowOptimizer optimizer) {
  switch (optimizer) {
    case RowOptimizer::sgd: return "sgd";
    case RowOptimizer::rowwise_adagrad: return "rowwise_adagrad";
    case RowOptimizer::adagrad: return "adagrad";
  }
  return "";
}

std::uint32_t first_holder(const TableShard& shard, const EmbeddingGrid& grid) {
  return shard.by_node() ? grid.node_of(shard.rank) * grid.per_node : shard.rank;
}

std::uint32_t holders(const TableShard& shard, const EmbeddingGrid& grid) {
  if (shard.whole()) { return 1; }
  return shard.by_node() ? grid.per_node : grid.ranks;
}

ShardLoad load_of(const TableShard& shard, const EmbeddingTable& table, const EmbeddingGrid& grid) {
  const bool copied = shard.sharding == TableSharding::data_parallel;
  const double parts = copied ? 1 : holders(shard, grid);
  const auto samples = static_cast<double>(copied ? grid.own_batch() : grid.batch);
  return {.rows = static_cast<double>(table.rows) / parts,
          .lookups = samples * table.lookups / parts,
          .outputs = samples,
          .distinct = table.access->distinct(samples * table.lookups) / parts};
}

void EmbeddingTraffic::Amount::add(const TableShard& shard, const EmbeddingTable& table) {
  columns += shard.width;
  features += 1;
  lookups += table.lookups;
}

EmbeddingTraffic::EmbeddingTraffic(const std::vector<EmbeddingTable>& tables, const TableShards& shards,
                                   const EmbeddingGrid& grid, const EmbeddingNumbers& numbers)
    : grid_(grid), numbers_(numbers), of_rank_(grid.ranks), of_node_(grid.nodes()) {
  for (const TableShard& shard : shards) {
    const EmbeddingTable& table = tables[shard.table];
    if (shard.whole()) {
      of_rank_[shard.rank].add(shard, table);
    } else if (shard.by_node()) {
      of_node_[grid.node_of(shard.rank)].add(shard, table);
    } else if (shard.sharding == TableSharding::row_wise) {
      row_wise_.add(shard, table);
    }
  }
}

/// Of one sender. Shares of indices are rounded up to whole bytes.
std::int64_t EmbeddingTraffic::index_bytes(std::uint32_t to) const {
  const Amount& own = of_rank_[to];
  const Amount& node = of_node_[grid_.node_of(to)];
  const double lookups = own.lookups + node.lookups / grid_.per_node + row_wise_.lookups / grid_.ranks;
  const double features = own.features + node.features + row_wise_.features;
  const double of_sample = lookups * numbers_.index + features * numbers_.length;
  constexpr double kRounding = 1e-6;  // of what is a whole number but for its binary form
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(grid_.own_batch()) * of_sample - kRounding));
}

std::shared_ptr<const AllToAllVSizes> EmbeddingTraffic::indices() const {
  std::vector<Elements> sizes;
  std::int64_t all = 0;
  for (std::uint32_t from = 0; from < grid_.ranks; ++from) {
    for (std::uint32_t to = 0; to < grid_.ranks; ++to) {
      sizes.emplace_back(index_bytes(to));
      all += sizes.back().count();
    }
  }
  return all == 0 ? nullptr : std::make_shared<const AllToAllVSizes>(grid_.ranks, sizes);
}

std::shared_ptr<const AllToAllVSizes> EmbeddingTraffic::whole(Precision precision, bool back) const {
  std::vector<Elements> sizes;
  const auto samples = static_cast<double>(grid_.own_batch());
  double all = 0;
  for (std::uint32_t from = 0; from < grid_.ranks; ++from) {
    for (std::uint32_t to = 0; to < grid_.ranks; ++to) {
      const double bytes = samples * of_rank_[back ? to : from].columns * bytes_of(precision);
      sizes.emplace_back(static_cast<std::int64_t>(bytes));
      all += bytes;
    }
  }
  return all == 0 ? nullptr : std::make_shared<const AllToAllVSizes>(grid_.ranks, sizes);
}

std::int64_t EmbeddingTraffic::row_wise_elements() const {
  return static_cast<std::int64_t>(static_cast<double>(grid_.batch) * row_wise_.columns);
}

std::int64_t EmbeddingTraffic::node_elements(std::uint32_t node) const {
  return static_cast<std::int64_t>(static_cast<double>(grid_.batch) * of_node_[node].columns);
}

bool EmbeddingTraffic::has_node_shards() const {
  return std::any_of(of_node_.begin(), of_node_.end(), [](const Amount& each) { return each.columns > 0; });
}

std::shared_ptr<const AllToAllVSizes> EmbeddingTraffic::across(Precision precision, bool back) const {
  if (!has_node_shards() || grid_.nodes() == 1) { return nullptr; }
  std::vector<Elements> sizes(std::size_t{grid_.ranks} * grid_.ranks, Elements::zero());
  const auto samples = static_cast<double>(grid_.own_batch());
  for (std::uint32_t from = 0; from < grid_.ranks; ++from) {
    for (std::uint32_t to = from % grid_.per_node; to < grid_.ranks; to += grid_.per_node) {
      const double bytes = samples * of_node_[grid_.node_of(back ? to : from)].columns * bytes_of(precision);
      sizes[std::size_t{from} * grid_.ranks + to] = Elements{static_cast<std::int64_t>(bytes)};
    }
  }
  return std::make_shared<const AllToAllVSizes>(grid_.ranks, sizes);
}

}  // namespace athanor
