#include "algorithms/patterns/grid_algorithm.hpp"
#include "algorithms/patterns/torus_all_reduce.hpp"

namespace athanor {

Algorithm torus_2d_all_reduce() {
  return on_grid_of<TorusAllReduce>(
      {
          .name = "torus_2d",
          .kind = CollectiveKind::all_reduce,
          .summary =
              "reduced along the rows, then the columns of a torus and gathered back; four copies at once use all four "
              "ports",
          .formula = "2(X-1 + Y-1) alpha + (P-1)/(2P) n beta + (P-1)/P n gamma, beta that of one of four ports; for X "
                     "= Y, else "
                     "the copies that begin on the shorter side end last",
          .source = "Sack and Gropp, Collective algorithms for multiported torus networks, 2015",
          .explanation =
              "Reduce-scatter around the rings of one dimension, all-reduce around those of the other on what is left, "
              "all-gather back around the first. Four copies, each on a quarter of the payload, begin in each "
              "dimension "
              "and each way round, so that all four ports of a rank work at once.",
          .ranks = "any number of ranks that is a product of two sides; the sides of the least sum, or as given",
          .fabrics = "a torus of two dimensions with four ports per rank",
      },
      2, kEveryPort);
}

}  // namespace athanor
