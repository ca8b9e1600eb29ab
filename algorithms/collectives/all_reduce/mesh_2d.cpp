#include "algorithms/patterns/grid_algorithm.hpp"
#include "algorithms/patterns/mesh_all_reduce.hpp"

namespace athanor {

Algorithm mesh_2d_all_reduce() {
  return on_grid_of<MeshAllReduce>(
      {
          .name = "mesh_2d",
          .kind = CollectiveKind::all_reduce,
          .summary =
              "reduced along the rows, then the columns of a mesh without wrap-around and gathered back; two copies at "
              "once",
          .formula = "for X = Y >= 3, large n: 4(X-1) alpha + (1 + (floor((X-1)/2) - 3)/(2P)) n beta, beta that of one "
                     "of four "
                     "ports, + "
                     "(X+1)/(2X) n gamma",
          .source = "Barnett, Littlefield, Payne and van de Geijn, Global combine on mesh architectures with wormhole "
                    "routing, "
                    "1993",
          .explanation = "As on a torus, but rows and columns are chains whose ends are not joined: sums flow along a "
                         "chain from both "
                         "ends to the rank that keeps them, and results flow back both ways. Two copies, one begins "
                         "with the rows and "
                         "one with the columns. The end of a chain sends through one port only, which decides.",
          .ranks = "any number of ranks that is a product of two sides; the sides of the least sum, or as given",
          .fabrics = "a mesh without wrap-around links, such as a part of a torus",
      },
      2);
}

}  // namespace athanor
