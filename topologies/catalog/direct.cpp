#include "topologies/catalog/catalog.hpp"

namespace athanor {

namespace {

const char* const kGridSource =
    "Dally, Towles, \"Principles and practices of interconnection networks\", 2004, chapter 5";

std::vector<Topology> grids() {
  return {
      {.name = "torus",
       .title = "Torus",
       .explanation =
           "A grid that closes on itself in every dimension; a node is a position, and its NICs share the position's "
           "ports. Google's TPU v4 pods, IBM's Blue Gene/L, Fujitsu's Tofu. With \"twists\" who passes the end "
           "of "
           "one dimension comes back shifted in another: \"tpu_v4\" shifts those of 2 k by k wherever a dimension has "
           "the least length k, so that k x k x 2k and k x 2k x 2k slices look alike along every dimension.",
       .symbols = "n dimensions of k_i positions, N in all",
       .endpoints = "N",
       .switches = "0: positions forward",
       .cables = "N for each k_i > 2, N/2 for k_i = 2",
       .diameter = "sum floor(k_i / 2); k x k x 2k and k x 2k x 2k twisted: floor(3k / 2)",
       .bisection = "2 N / max k_i, that even and above 2; k x k x 2k twisted: 4 k^2 in place of 2 k^2, k x 2k x 2k: "
                    "8 k^2 in place of 4 k^2",
       .source = std::string(kGridSource) +
                 "; Jouppi et al., \"TPU v4\", ISCA 2023; Camara et al., \"Twisted torus topologies for enhanced "
                 "interconnection networks\", IEEE TPDS 2010; Camarero, Martinez, Beivide, \"Lattice graphs for "
                 "high-scale interconnection topologies\", IEEE TPDS 2015; Adiga et al., \"Blue Gene/L torus "
                 "interconnection network\", IBM J. Res. Dev. 2005; Ajima, Sumimoto, Shimizu, \"Tofu\", IEEE "
                 "Computer 2009",
       .routings = {Routing::dimension_order}},
      {.name = "mesh",
       .title = "Mesh",
       .explanation = "A grid with ends, of any dimensions; \"wrap\" closes some of them. One virtual "
                      "channel is enough for it.",
       .symbols = "n dimensions of k_i positions, N in all",
       .endpoints = "N",
       .switches = "0: positions forward",
       .cables = "sum N (k_i - 1) / k_i",
       .diameter = "sum (k_i - 1)",
       .bisection = "N / max k_i, that even",
       .source = kGridSource,
       .routings = {Routing::dimension_order}},
  };
}

std::vector<Topology> boxes() {
  return {
      {.name = "full_mesh",
       .title = "Full mesh",
       .explanation = "Nodes that are joined every two, or switches with hosts on them. The eight accelerators "
                      "of Intel's Gaudi boards, and small clusters whose switches have ports to spare.",
       .symbols = "n nodes, or n switches with T hosts each; K cables side by side",
       .endpoints = "n, or n T",
       .switches = "0, or n",
       .cables = "K n (n - 1) / 2",
       .diameter = "1, or 3",
       .bisection = "K floor(n/2) ceil(n/2)",
       .source = "Dally, Towles (above), chapter 1; Intel, \"Gaudi network configuration\", docs.habana.ai",
       .routings = {Routing::dimension_order, Routing::valiant, Routing::ugal}},
      {.name = "hyperx",
       .title = "HyperX",
       .explanation = "Switches at the positions of a box, each joined to all others along every dimension: few hops "
                      "at a low cost per host. Of one dimension it is a full mesh of switches, of two a \"2D full "
                      "mesh\" or flattened butterfly, of sides of two a hypercube.",
       .symbols = "L dimensions of S_i switches, N in all; T hosts per switch; K_i cables side by side",
       .endpoints = "N T",
       .switches = "N, of radix T + sum K_i (S_i - 1)",
       .cables = "N/2 sum K_i (S_i - 1)",
       .diameter = "L + 2",
       .bisection = "min K_i N / S_i floor(S_i / 2) ceil(S_i / 2)",
       .source = "Ahn, Binkert, Davis, McLaren, Schreiber, \"HyperX: topology, routing, and packaging of efficient "
                 "large-scale networks\", SC'09",
       .routings = {Routing::dimension_order, Routing::valiant, Routing::ugal}},
  };
}

std::vector<Topology> groups() {
  return {
      {.name = "dragonfly",
       .title = "Dragonfly",
       .explanation = "Groups of routers that are joined every two; every two groups are joined by as many cables as "
                      "the routers' global ports allow. One long cable on a way at most. Cray XC, and "
                      "HPE Slingshot as in Aurora.",
       .symbols = "g groups of a routers, p hosts and h global cables per router; K = floor(a h / (g - 1))",
       .endpoints = "a p g, g <= a h + 1",
       .switches = "a g, of radix p + a - 1 + h",
       .cables = "g a (a - 1) / 2 within groups, K g (g - 1) / 2 between them",
       .diameter = "5",
       .bisection = "K floor(g/2) ceil(g/2), between halves of the groups",
       .source =
           "Kim, Dally, Scott, Abts, \"Technology-driven, highly-scalable dragonfly topology\", ISCA'08; "
           "arrangements: Hastings et al., \"Comparing global link arrangements for dragonfly networks\", "
           "CLUSTER 2015; Argonne Leadership Computing Facility, \"Aurora: interconnect\", alcf.anl.gov; Cray XC: "
           "Faanes et al., \"Cray Cascade\", SC'12",
       .routings = {Routing::minimal, Routing::valiant, Routing::ugal}},
      {.name = "dragonfly_plus",
       .title = "Dragonfly+",
       .explanation = "A dragonfly whose groups are two-tier trees: every leaf of a group on every spine of it, cables "
                      "between groups from spine to spine. More hosts than a dragonfly of the same switches, and any "
                      "traffic within a group. InfiniBand clusters such as Niagara and Leonardo.",
       .symbols = "g groups of l leaves and s spines, p hosts per leaf, h global cables per spine; "
                  "K = floor(s h / (g - 1))",
       .endpoints = "g l p, g <= s h + 1",
       .switches = "g (l + s)",
       .cables = "g l s within groups, K g (g - 1) / 2 between them",
       .diameter = "5",
       .bisection = "K floor(g/2) ceil(g/2), between halves of the groups",
       .source = "Shpiner, Haramaty, Eliad, Zdornov, Gafni, Zahavi, \"Dragonfly+: low cost topology for scaling "
                 "datacenters\", HiPINEB 2017; HPCwire, \"Dragonfly+ delivers performance for Canada's fastest "
                 "supercomputer\", 9 July 2018; Cineca on the cables of Leonardo, cineca.it",
       .routings = {Routing::minimal, Routing::valiant, Routing::ugal}},
      {.name = "slim_fly",
       .title = "Slim Fly",
       .explanation = "Routers at most two hops apart, nearly as many as a network of that diameter can have at all: "
                      "graphs of McKay, Miller and Siran over a finite field.",
       .symbols = "q a prime power, q = 4w + d with d in {-1, 0, 1}; p hosts per router; k = (3q - d) / 2",
       .endpoints = "2 q^2 p; balanced: p = ceil(k/2)",
       .switches = "2 q^2, of radix k + p",
       .cables = "q^2 k",
       .diameter = "4",
       .bisection = "at most q (q^2 + q mod 2) / 2, between halves of the columns",
       .source = "Besta, Hoefler, \"Slim Fly: a cost effective low-diameter network topology\", SC'14; Hafner, "
                 "\"Geometric realisation of the graphs of McKay-Miller-Siran\", J. Combin. Theory B, 2004",
       .routings = {Routing::minimal, Routing::valiant, Routing::ugal}},
  };
}

}  // namespace

std::vector<Topology> direct_topologies() {
  std::vector<Topology> all = grids();
  for (const auto& more : {boxes(), groups()}) { all.insert(all.end(), more.begin(), more.end()); }
  return all;
}

}  // namespace athanor
