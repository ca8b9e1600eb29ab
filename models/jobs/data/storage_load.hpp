#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
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

/// Those who read or write at one time, and what limits them: storages, their clients, caches and links.
class StorageLoad {
 public:
  enum class Direction : std::uint8_t { read, write };

  /// Borrows the rules.
  StorageLoad(const DataRules& rules, Direction direction) : rules_(&rules), direction_(direction) {}

  /// `each`: bytes of a storage on a node for each unit of the claim's rate, in files of `file_bytes`.
  void take(RateClaim& claim, std::uint32_t storage, NodeId node, double each, double file_bytes);
  /// The same of a cache that nodes share.
  void take_cached(RateClaim& claim, std::uint32_t cache, double each);
  /// The rate of a claim if there were no other.
  double alone(const RateClaim& claim) const;
  /// What a claim takes at some rate of links of the fabric: these, ascending, and the share of each.
  std::vector<std::pair<std::uint32_t, double>> links(const RateClaim& claim, double rate) const;

  /// Claims that are there from now on, or no longer. Requires that a claim leaves as it entered.
  void enter(const RateClaim& claim) { count(claim, 1); }
  void leave(const RateClaim& claim) { count(claim, -1); }
  /// Max-min fair rates of all that have entered.
  std::vector<double> share(const std::vector<const RateClaim*>& claims) const;

 private:
  enum class What : std::uint8_t { storage, operations, client, on_node, link, cache };
  void add(RateClaim& claim, What what, std::uint32_t first, std::uint32_t second, double each, double capacity);
  void add(RateClaim& claim, std::uint32_t resource, double each);
  std::uint32_t resource(What what, std::uint32_t first, std::uint32_t second, double capacity);
  const StoragePaths::Shares& route(std::uint32_t storage, NodeId node);
  void count(const RateClaim& claim, double times);
  bool is_short(std::uint32_t resource) const;

  const DataRules* rules_;
  Direction direction_;
  /// What each node puts on which links of a storage, by their resources.
  std::map<std::pair<std::uint32_t, NodeId>, StoragePaths::Shares> routes_;
  std::map<std::tuple<What, std::uint32_t, std::uint32_t>, std::uint32_t> known_;
  std::vector<double> capacities_;
  std::map<std::uint32_t, std::uint32_t> link_of_;  ///< of those resources that are links
  std::vector<double> wanted_;                      ///< of each resource, by all that have entered
  std::vector<std::uint32_t> places_;               ///< of each resource in the claim that had it last
  std::size_t short_ = 0;                           ///< resources of which more is wanted than there is
};

}  // namespace athanor
