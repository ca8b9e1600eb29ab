#include "algorithms/patterns/torus_all_reduce.hpp"

namespace athanor {

namespace {

/// A copy begins in each dimension and each way, so that all ports work at once.
constexpr TorusCopies kCopies{true, true};

std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return std::make_unique<TorusAllReduce>(collective, layout, dimensions_of(collective, layout, 3), kCopies);
}

Elements granule(const Collective& collective, const Layout& layout) {
  return TorusAllReduce::granule(collective, layout, dimensions_of(collective, layout, 3), kCopies);
}

Cost cost(const Collective& collective, const Layout& layout) {
  return TorusAllReduce(collective, layout, dimensions_of(collective, layout, 3), kCopies).cost();
}

}  // namespace

Algorithm torus_all_reduce() {
  return {
      .name = "torus",
      .kind = CollectiveKind::all_reduce,
      .summary =
          "reduced along each dimension of a torus and gathered back; 2D copies at once use all ports of D dimensions",
      .formula =
          "2 sum (X_d - 1) alpha + (P-1)/(D P) n beta + (P-1)/P n gamma, beta that of one of 2D ports; for equal sides "
          "X_d",
      .source = "Sack and Gropp, Collective algorithms for multiported torus networks, 2015",
      .explanation =
          "As torus_2d and torus_3d, over the number of dimensions that the layout gives: 2D copies, one for each "
          "dimension to begin with and each way round. Sides of one are left out.",
      .ranks = "any number of ranks; up to six dimensions as given, else three sides of the least sum",
      .fabrics = "a torus of D dimensions with 2D ports per rank; equal sides, or the copies differ in length",
      .make_for_many = make,
      .granule_for_many = granule,
      .cost_in_shape = cost,
  };
}

}  // namespace athanor
