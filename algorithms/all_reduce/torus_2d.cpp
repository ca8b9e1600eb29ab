#include "algorithms/patterns/torus_all_reduce.hpp"

namespace athanor {

namespace {

/// A copy begins in each dimension and each way, so that all ports work at once.
constexpr TorusCopies kCopies{true, true};

std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return std::make_unique<TorusAllReduce>(collective, layout, dimensions_of(collective, layout, 2), kCopies);
}

Elements granule(const Collective& collective, const Layout& layout) {
  return TorusAllReduce::granule(collective, layout, dimensions_of(collective, layout, 2), kCopies);
}

Cost cost(const Collective& collective, const Layout& layout) {
  return TorusAllReduce(collective, layout, dimensions_of(collective, layout, 2), kCopies).cost();
}

std::optional<std::string> refuse(const Collective&, const Layout& layout) {
  return refuse_other_dimensions(layout.dimensions, 2);
}

}  // namespace

Algorithm torus_2d_all_reduce() {
  return {
      .name = "torus_2d",
      .kind = CollectiveKind::all_reduce,
      .summary =
          "reduced along the rows, then the columns of a torus and gathered back; four copies at once use all four "
          "ports",
      .formula =
          "2(X-1 + Y-1) alpha + (P-1)/(2P) n beta + (P-1)/P n gamma, beta that of one of four ports; for X = Y, else "
          "the copies that begin on the shorter side end last",
      .source = "Sack and Gropp, Collective algorithms for multiported torus networks, 2015",
      .explanation =
          "Reduce-scatter around the rings of one dimension, all-reduce around those of the other on what is left, "
          "all-gather back around the first. Four copies, each on a quarter of the payload, begin in each dimension "
          "and each way round, so that all four ports of a rank work at once.",
      .ranks = "any number of ranks that is a product of two sides; the sides of the least sum, or as given",
      .fabrics = "a torus of two dimensions with four ports per rank",
      .make_for_many = make,
      .granule_for_many = granule,
      .cost_in_shape = cost,
      .refuses_many = refuse,
  };
}

}  // namespace athanor
