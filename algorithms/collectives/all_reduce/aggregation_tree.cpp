#include "algorithms/patterns/aggregation.hpp"

namespace athanor {

Algorithm aggregation_tree_all_reduce() {
  Algorithm algorithm = aggregation_algorithm(CollectiveKind::all_reduce);
  algorithm.summary =
      "switches add up what the ranks send on its way up a tree, and multicast the sum; every rank sends "
      "the payload once";
  algorithm.formula =
      "2 h alpha + n beta in one chunk that cuts through, 2 h (alpha + n beta) in one that does not, with "
      "many towards n beta; h messages from a rank to the top of the tree";
  algorithm.explanation =
      "Every rank sends its vector to the switch that it is on. A switch adds what comes from below and "
      "sends the sum on upwards; the top of the tree has the sum of all, which is multicast down again. A "
      "rank sends and receives its vector once, half of what a ring does, and the time of a small payload "
      "grows with the levels of the tree, not with the ranks.";
  algorithm.pipelines = true;
  return algorithm;
}

}  // namespace athanor
