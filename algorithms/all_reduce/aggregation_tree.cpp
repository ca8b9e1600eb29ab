#include "algorithms/patterns/aggregation.hpp"

namespace athanor {

Algorithm aggregation_tree_all_reduce() {
  return {
      .name = "aggregation_tree",
      .kind = CollectiveKind::all_reduce,
      .summary =
          "switches add up what the ranks send on its way up a tree, and multicast the sum; every rank sends "
          "the payload once",
      .engine = Engine::switches,
      .formula =
          "2 h alpha + n beta in one chunk that cuts through, 2 h (alpha + n beta) in one that does not, with "
          "many towards n beta; h messages from a rank to the top of the tree",
      .source =
          "Graham et al., Scalable Hierarchical Aggregation Protocol (SHArP): A Hardware Architecture for Efficient "
          "Data "
          "Reduction, COMHPC 2016",
      .explanation =
          "Every rank sends its vector to the switch that it is on. A switch adds what comes from below and "
          "sends the sum on upwards; the top of the tree has the sum of all, which is multicast down again. A "
          "rank sends and receives its vector once, half of what a ring does, and the time of a small payload "
          "grows with the levels of the tree, not with the ranks.",
      .ranks = "any number of ranks",
      .fabrics = "switches that aggregate",
      .pipelines = true,
      .make_for_many = make_aggregation,
      .granule_for_many = aggregation_granule,
      .cost_in_shape = aggregation_cost,
      .refuses_many = refuses_aggregation,
  };
}

}  // namespace athanor
