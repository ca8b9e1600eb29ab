#include "algorithms/patterns/aggregation.hpp"

namespace athanor {

Algorithm aggregation_tree_barrier() {
  return {
      .name = "aggregation_tree",
      .kind = CollectiveKind::barrier,
      .summary = "switches collect from all ranks up a tree, and release them down again",
      .engine = Engine::switches,
      .formula = "2 h alpha; h messages from a rank to the top of the tree",
      .source =
          "Graham et al., Scalable Hierarchical Aggregation Protocol (SHArP): A Hardware Architecture for Efficient "
          "Data "
          "Reduction, COMHPC 2016",
      .explanation =
          "A switch tells the one above when everything below it has told it; the top of the tree then releases "
          "all.",
      .ranks = "any number of ranks",
      .fabrics = "switches that aggregate",
      .pipelines = false,
      .make_for_many = make_aggregation,
      .granule_for_many = aggregation_granule,
      .cost_in_shape = aggregation_cost,
      .refuses_many = refuses_aggregation,
  };
}

}  // namespace athanor
