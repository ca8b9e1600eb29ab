#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/formats/table_schedule.hpp"
#include "algorithms/synthesis/capacity_graph.hpp"
#include "sim/ratio.hpp"

namespace athanor {

/// The ways of an all-to-all's units, one for each pair of ranks.
struct ExchangeRoutes {
  std::uint32_t ranks = 0;
  std::vector<std::vector<std::uint32_t>> hops;  ///< by sender x ranks + receiver: the ranks on the way, both included
  Ratio load{0, 1};   ///< the most units on a link over its capacity: the time that they take
  Ratio bound{0, 1};  ///< no routes take less
};

/// One way for each pair, which avoids links that carry much already: each link is as long as the inverse of its
/// capacity, times a factor that grows exponentially with its load, and shortest ways are looked for again and again
/// (Garg and Könemann, Faster and simpler algorithms for multicommodity flow and other fractional packing problems,
/// 2007). The bound is the dual of that flow: whatever lengths links have, all units together have to go the distance
/// between their ends, and links carry their capacity times their length in a unit of time. It is exact for the lengths
/// of each round, of which the best counts, and for cuts. Requires two ranks at least, which all reach each other.
ExchangeRoutes exchange_routes(const CapacityGraph& graph);

/// The all-to-all: ranks on the way store what they pass on.
Table exchange_table(const ExchangeRoutes& routes);

}  // namespace athanor
