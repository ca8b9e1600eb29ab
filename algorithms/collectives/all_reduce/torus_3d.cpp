#include "algorithms/patterns/grid_algorithm.hpp"
#include "algorithms/patterns/torus_all_reduce.hpp"

namespace athanor {

Algorithm torus_3d_all_reduce() {
  return on_grid_of<TorusAllReduce>(
      {
          .name = "torus_3d",
          .kind = CollectiveKind::all_reduce,
          .summary =
              "reduced along the three dimensions of a torus and gathered back; six copies at once use all six ports",
          .formula = "2(X-1 + Y-1 + Z-1) alpha + (P-1)/(3P) n beta + (P-1)/P n gamma, beta that of one of six ports; "
                     "for X = Y = "
                     "Z",
          .source = "Sack and Gropp, Collective algorithms for multiported torus networks, 2015",
          .explanation = "As torus_2d, over three dimensions: reduce-scatter in two, all-reduce in the third, "
                         "all-gather back. Six "
                         "copies on a sixth of the payload each use all six ports of a rank.",
          .ranks = "any number of ranks that is a product of three sides; the sides of the least sum, or as given",
          .fabrics = "a torus of three dimensions with six ports per rank, such as TPU v4 pods",
      },
      3, kEveryPort);
}

}  // namespace athanor
