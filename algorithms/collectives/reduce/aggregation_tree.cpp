#include "algorithms/patterns/aggregation.hpp"

namespace athanor {

Algorithm aggregation_tree_reduce() {
  Algorithm algorithm = aggregation_algorithm(CollectiveKind::reduce);
  algorithm.summary = "switches add up what the ranks send on its way up a tree; the sum goes down to the root alone";
  algorithm.formula =
      "(h + r) alpha + n beta in one chunk that cuts through, with many towards n beta; h and r messages "
      "from the deepest rank and from the root to the top of the tree";
  algorithm.explanation = "As the all-reduce of the same name, but that the sum goes down to the root alone.";
  algorithm.pipelines = true;
  return algorithm;
}

}  // namespace athanor
