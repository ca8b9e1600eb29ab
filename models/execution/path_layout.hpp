#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/execution/adaptive_routes.hpp"
#include "models/execution/plan.hpp"

namespace athanor {

/// Queue pairs of a connection whose NICs no library chooses: so many, rounded up to a multiple of the NICs that a GPU
/// has to itself, so that each message is striped over all of these (as UCX and MPI libraries do with several rails).
std::uint32_t striped(std::uint32_t queue_pairs, const Cluster& cluster);

/// Lays connections into the network of a plan, one after the other: each queue pair of a connection has a path of its
/// own, and fabric links get numbers in the order in which paths first cross them.
class PathLayout {
 public:
  /// Borrows both; the plan's `queue_pairs` is set, and its network is empty.
  PathLayout(Plan& plan, const Cluster& cluster);

  /// Appends a connection to the plan's network. The request's flow tells flows between the same two apart; queue pair
  /// 0 has the number that a connection of one pair has. Its channel and those after it choose the NICs of the pairs,
  /// where it names none. `price` is told the links of queue pair 0 and returns what the whole connection costs, which
  /// is returned. Throws SimulationError("no-route").
  template <class Price>
  ConnectionCost add(const RouteRequest& request, const Price& price) {
    ConnectionCost cost;
    for (std::uint32_t pair = 0; pair < plan_.queue_pairs; ++pair) {
      open(request, pair);
      if (pair == 0) { cost = price(std::span<const LinkId>(path_)); }
      add_pair(cost);
    }
    return cost;
  }

 private:
  void open(RouteRequest request, std::uint32_t pair);
  void add_pair(const ConnectionCost& cost);
  std::uint32_t number(LinkId link);

  Plan& plan_;
  const Fabric& fabric_;
  AdaptiveRoutes routes_;
  std::vector<LinkId> path_;
  std::vector<std::uint32_t> numbers_;  ///< in the plan, by fabric link
};

}  // namespace athanor
