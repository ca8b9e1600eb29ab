#include "algorithms/patterns/aggregation.hpp"

namespace athanor {

Algorithm aggregation_tree_broadcast() {
  Algorithm algorithm = aggregation_algorithm(CollectiveKind::broadcast);
  algorithm.summary = "the payload climbs a tree of switches from the root, and is multicast down to all others";
  algorithm.formula =
      "(r + h) alpha + n beta in one chunk that cuts through, with many towards n beta; r and h messages "
      "from the root and from the deepest of the others to the top of the tree";
  algorithm.explanation =
      "The root sends the payload once; the switches on its way to the top of the tree pass it on, and each "
      "switch copies it to everything below it that has not got it.";
  algorithm.pipelines = true;
  return algorithm;
}

}  // namespace athanor
