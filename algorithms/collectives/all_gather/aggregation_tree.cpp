#include "algorithms/patterns/aggregation_blocks.hpp"

namespace athanor {

Algorithm aggregation_tree_all_gather() {
  Algorithm algorithm = aggregation_blocks_algorithm(CollectiveKind::all_gather);
  algorithm.summary =
      "every rank's block climbs a tree of switches once, and is multicast down to all; a rank sends its block alone";
  algorithm.formula =
      "2 h alpha + n beta where blocks cut through, 2 h alpha + (P - 1 + 2 h)/P n beta where they do not; h messages "
      "from a rank to the top of the tree";
  algorithm.explanation =
      "Every rank sends its block to the switch that it is on; blocks climb to the top of the tree in the order in "
      "which the ranks hang on it, and are multicast down to all ranks, to their owner too. A rank sends its block "
      "once, where it sends all but one in a ring, and receives the payload.";
  return algorithm;
}

}  // namespace athanor
