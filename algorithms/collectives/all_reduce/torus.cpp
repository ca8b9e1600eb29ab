#include "algorithms/patterns/grid_algorithm.hpp"
#include "algorithms/patterns/torus_all_reduce.hpp"

namespace athanor {

Algorithm torus_all_reduce() {
  return on_any_grid<TorusAllReduce>(
      {
          .name = "torus",
          .kind = CollectiveKind::all_reduce,
          .summary = "reduced along each dimension of a torus and gathered back; 2D copies at once use all ports of D "
                     "dimensions",
          .formula = "2 sum (X_d - 1) alpha + (P-1)/(D P) n beta + (P-1)/P n gamma, beta that of one of 2D ports; for "
                     "equal sides "
                     "X_d",
          .source = "Sack and Gropp, Collective algorithms for multiported torus networks, 2015",
          .explanation =
              "As torus_2d and torus_3d, over the number of dimensions that the layout gives: 2D copies, one for each "
              "dimension to begin with and each way round. Sides of one are left out.",
          .ranks = "any number of ranks; up to six dimensions as given, else three sides of the least sum",
          .fabrics = "a torus of D dimensions with 2D ports per rank; equal sides, or the copies differ in length",
      },
      3, kEveryPort);
}

}  // namespace athanor
