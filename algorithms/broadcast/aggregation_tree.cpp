#include "algorithms/patterns/aggregation.hpp"

namespace athanor {

Algorithm aggregation_tree_broadcast() {
  return {
      .name = "aggregation_tree",
      .kind = CollectiveKind::broadcast,
      .summary = "the payload climbs a tree of switches from the root, and is multicast down to all others",
      .engine = Engine::switches,
      .formula =
          "(r + h) alpha + n beta in one chunk that cuts through, with many towards n beta; r and h messages "
          "from the root and from the deepest of the others to the top of the tree",
      .source =
          "Graham et al., Scalable Hierarchical Aggregation Protocol (SHArP): A Hardware Architecture for Efficient "
          "Data "
          "Reduction, COMHPC 2016",
      .explanation =
          "The root sends the payload once; the switches on its way to the top of the tree pass it on, and each "
          "switch copies it to everything below it that has not got it.",
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
