#include "topologies/catalog/catalog.hpp"

namespace athanor {

namespace {

std::vector<Topology> trees(const std::vector<Routing>& upwards) {
  return {
      {.name = "star",
       .title = "Star",
       .explanation = "One switch that all hosts or NICs are on: the least network, and what larger ones are compared "
                      "with. Racks and small clusters of one switch.",
       .symbols = "n hosts or NICs",
       .endpoints = "n, at most the radix",
       .switches = "1",
       .cables = "0",
       .diameter = "2",
       .bisection = "floor(n/2)",
       .source = "",
       .routings = upwards},
      {.name = "fat_tree",
       .title = "Fat tree",
       .explanation =
           "Leaves, spines and, with three tiers, cores (a folded Clos network): up to a switch that both ends are "
           "below, and down. Without oversubscription every permutation of hosts finds ways that share no link. The "
           "usual network of InfiniBand and Ethernet clusters; with three tiers the leaves and spines of a pod hang "
           "together. Figures are of the full tree without oversubscription; partial and oversubscribed ones follow "
           "from what is said.",
       .symbols = "k ports of a switch, t tiers (2 or 3)",
       .endpoints = "2 (k/2)^t",
       .switches = "(2t - 1) (k/2)^(t-1)",
       .cables = "(t - 1) 2 (k/2)^t",
       .diameter = "2t",
       .bisection = "(k/2)^t",
       .source = "Leiserson, \"Fat-trees\", IEEE Trans. Computers 1985; Al-Fares, Loukissas, Vahdat, \"A scalable, "
                 "commodity data center network architecture\", SIGCOMM 2008",
       .routings = upwards},
      {.name = "rail_optimized",
       .title = "Rail-optimized fat tree",
       .explanation = "A fat tree in which NIC r of every node of a group is on leaf r of that group, so that GPUs of "
                      "equal number meet at one leaf. NVIDIA's DGX SuperPOD and most clusters of eight-GPU nodes.",
       .symbols = "k ports of a switch, two tiers, r NICs per node; r divides k",
       .endpoints = "k^2/2: k/r groups of k/2 nodes",
       .switches = "3k/2",
       .cables = "k^2/2",
       .diameter = "4, on one rail within a group 2",
       .bisection = "k^2/4 between halves of the groups, where k/r is even",
       .source = "NVIDIA, \"DGX SuperPOD: reference architecture\", 2023",
       .routings = upwards},
  };
}

std::vector<Topology> several_networks(const std::vector<Routing>& upwards) {
  return {
      {.name = "rail_only",
       .title = "Rail-only",
       .explanation = "A network for each rail: NIC r of every node is on network r, one switch where that takes all "
                      "nodes, and nothing joins them but the nodes. Data for another rail goes over NVLink first, to "
                      "the GPU beside the right NIC. Proposed for training, where nearly all traffic stays on a rail.",
       .symbols = "r NICs per node, n nodes, one switch per rail",
       .endpoints = "n r, n at most the radix",
       .switches = "r",
       .cables = "0",
       .diameter = "2 between NICs of a rail",
       .bisection = "r floor(n/2)",
       .source = "Wang et al., \"Rail-only: a low-cost high-performance network for training LLMs with trillion "
                 "parameters\", 2023",
       .routings = upwards},
      {.name = "dual_plane",
       .title = "Planes",
       .explanation = "Equal fat trees side by side; every NIC has a port to each, and its ports share its rate. A "
                      "flow's hash chooses the plane, and a port that is down leaves the other. Alibaba's HPN, with "
                      "two planes by rail.",
       .symbols = "p planes, each a tree of two tiers of switches of k ports",
       .endpoints = "k^2/2",
       .switches = "3 p k/2",
       .cables = "p k^2/2",
       .diameter = "4",
       .bisection = "p k^2/4, each of 1/p of a NIC's rate",
       .source = "Qian et al., \"Alibaba HPN: a data center network for large language model training\", SIGCOMM 2024",
       .routings = upwards},
      {.name = "k_ary_n_tree",
       .title = "k-ary n-tree",
       .explanation = "A fat tree of equal switches on any number of levels, each with k links down and k up. The form "
                      "in which fat trees are analysed; Quadrics networks were 4-ary.",
       .symbols = "arity k, n levels",
       .endpoints = "k^n",
       .switches = "n k^(n-1)",
       .cables = "(n - 1) k^n",
       .diameter = "2n",
       .bisection = "k^n / 2, k even",
       .source = "Petrini, Vanneschi, \"k-ary n-trees: high performance networks for massively parallel "
                 "architectures\", IPPS 1997; Petrini et al., \"The Quadrics network\", IEEE Micro 2002",
       .routings = upwards},
  };
}

}  // namespace

std::vector<Topology> switched_topologies() {
  const std::vector<Routing> upwards = {Routing::d_mod_k, Routing::ecmp};
  std::vector<Topology> all = trees(upwards);
  for (Topology& topology : several_networks(upwards)) { all.push_back(std::move(topology)); }
  return all;
}

}  // namespace athanor
