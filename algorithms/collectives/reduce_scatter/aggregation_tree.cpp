#include "algorithms/patterns/aggregation_blocks.hpp"

namespace athanor {

Algorithm aggregation_tree_reduce_scatter() {
  Algorithm algorithm = aggregation_blocks_algorithm(CollectiveKind::reduce_scatter);
  algorithm.summary =
      "switches add up the blocks that the ranks send up a tree, one after the other; the sum of a block goes down to "
      "its owner alone";
  algorithm.formula =
      "2 h alpha + n beta where blocks cut through, 2 h alpha + (P - 1 + 2 h)/P n beta where they do not; h messages "
      "from a rank to the top of the tree";
  algorithm.explanation =
      "Every rank sends all blocks to the switch that it is on, in the order in which the ranks hang on the tree. "
      "Switches add and pass on; the top of the tree sends the sum of a block down the branch of its owner, while it "
      "adds up the next. A rank sends the payload once and receives its own block alone, where a ring brings it all "
      "blocks but one.";
  return algorithm;
}

}  // namespace athanor
