#include "algorithms/patterns/aggregation.hpp"

namespace athanor {

Algorithm aggregation_tree_barrier() {
  Algorithm algorithm = aggregation_algorithm(CollectiveKind::barrier);
  algorithm.summary = "switches collect from all ranks up a tree, and release them down again";
  algorithm.formula = "2 h alpha; h messages from a rank to the top of the tree";
  algorithm.explanation =
      "A switch tells the one above when everything below it has told it; the top of the tree then releases "
      "all.";
  return algorithm;
}

}  // namespace athanor
