#include "algorithms/patterns/mesh_all_reduce.hpp"

namespace athanor {

namespace {

std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return std::make_unique<MeshAllReduce>(collective, layout, dimensions_of(collective, layout, 2));
}

Elements granule(const Collective& collective, const Layout& layout) {
  return MeshAllReduce::granule(collective, layout, dimensions_of(collective, layout, 2));
}

Cost cost(const Collective& collective, const Layout& layout) {
  return MeshAllReduce(collective, layout, dimensions_of(collective, layout, 2)).cost();
}

std::optional<std::string> refuse(const Collective&, const Layout& layout) {
  return refuse_other_dimensions(layout.dimensions, 2);
}

}  // namespace

Algorithm mesh_2d_all_reduce() {
  return {
      .name = "mesh_2d",
      .kind = CollectiveKind::all_reduce,
      .summary =
          "reduced along the rows, then the columns of a mesh without wrap-around and gathered back; two copies at "
          "once",
      .formula =
          "for X = Y >= 3, large n: 4(X-1) alpha + (1 + (floor((X-1)/2) - 3)/(2P)) n beta, beta that of one of four "
          "ports, + "
          "(X+1)/(2X) n gamma",
      .source =
          "Barnett, Littlefield, Payne and van de Geijn, Global combine on mesh architectures with wormhole routing, "
          "1993",
      .explanation =
          "As on a torus, but rows and columns are chains whose ends are not joined: sums flow along a chain from both "
          "ends to the rank that keeps them, and results flow back both ways. Two copies, one begins with the rows and "
          "one with the columns. The end of a chain sends through one port only, which decides.",
      .ranks = "any number of ranks that is a product of two sides; the sides of the least sum, or as given",
      .fabrics = "a mesh without wrap-around links, such as a part of a torus",
      .make_for_many = make,
      .granule_for_many = granule,
      .cost_in_shape = cost,
      .refuses_many = refuse,
  };
}

}  // namespace athanor
