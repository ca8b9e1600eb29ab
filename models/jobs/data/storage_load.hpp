#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "models/jobs/data/data_rules.hpp"
#include "models/jobs/data/share_rates.hpp"
#include "models/jobs/inventory.hpp"

namespace athanor {

/// A part of a job on one node.
struct NodePart {
  NodeId node;
  double part = 1;  ///< of the job's GPUs
};
std::vector<NodePart> parts_of(const Allocation& where);

/// What limits those who read or write at one time: storages, their clients, caches and links. Made anew whenever that
/// changes.
class StorageLoad {
 public:
  enum class Direction : std::uint8_t { read, write };

  /// What each node puts on which links, so that it is found once.
  using Routes = std::map<std::pair<std::uint32_t, std::uint32_t>, StoragePaths::Shares>;

  /// Borrows both.
  StorageLoad(const DataRules& rules, Direction direction, Routes& routes)
      : rules_(&rules), direction_(direction), routes_(&routes) {}

  /// `each`: bytes of a storage on a node for each unit of the claim's rate, in files of `file_bytes`.
  void take(RateClaim& claim, std::uint32_t storage, NodeId node, double each, double file_bytes);
  /// The same of a cache that nodes share.
  void take_cached(RateClaim& claim, std::uint32_t cache, double each);
  std::vector<double> share(const std::vector<RateClaim>& claims) const { return share_rates(claims, capacities_); }

 private:
  enum class What : std::uint8_t { storage, operations, client, on_node, link, cache };
  void add(RateClaim& claim, What what, std::uint32_t first, std::uint32_t second, double each, double capacity);

  const DataRules* rules_;
  Direction direction_;
  Routes* routes_;
  std::map<std::tuple<What, std::uint32_t, std::uint32_t>, std::uint32_t> known_;
  std::vector<double> capacities_;
};

}  // namespace athanor
