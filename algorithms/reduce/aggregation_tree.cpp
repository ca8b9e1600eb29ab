#include "algorithms/patterns/aggregation.hpp"

namespace athanor {

Algorithm aggregation_tree_reduce() {
  return {
      .name = "aggregation_tree",
      .kind = CollectiveKind::reduce,
      .summary = "switches add up what the ranks send on its way up a tree; the sum goes down to the root alone",
      .engine = Engine::switches,
      .formula =
          "(h + r) alpha + n beta in one chunk that cuts through, with many towards n beta; h and r messages "
          "from the deepest rank and from the root to the top of the tree",
      .source =
          "Graham et al., Scalable Hierarchical Aggregation Protocol (SHArP): A Hardware Architecture for Efficient "
          "Data "
          "Reduction, COMHPC 2016",
      .explanation = "As the all-reduce of the same name, but that the sum goes down to the root alone.",
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
