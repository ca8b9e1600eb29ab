#include "algorithms/patterns/nvls_nodes.hpp"

namespace athanor {

Algorithm nvls_tree_all_reduce() {
  Algorithm algorithm = nvls_nodes_algorithm(NvlsAcross::double_binary_tree);
  algorithm.name = "nvls_tree";
  algorithm.summary =
      "NVSwitches add up inside the nodes, heads of one place across them along two binary trees, NVSwitches multicast";
  algorithm.formula =
      "4 alpha inside and 2 h alpha across, h = ceil(log2 of the nodes); with many chunks the greatest of (g+1)/g n "
      "beta "
      "on NVLink and 2 n/g beta on the network, for g ranks of a node";
  algorithm.source =
      "NCCL, src/device/all_reduce.h and src/graph/tuning.cc (NVLSTree); NVIDIA NVLink SHARP; the trees of "
      "double_binary_tree";
  algorithm.explanation =
      "The NVSwitches of a node add up what its ranks send and give each head, one per GPU, the sum of its piece. The "
      "heads of one place on all nodes reduce along a double binary tree, even channels along one tree and odd ones "
      "along the other, and the result goes back down. Each head sends it to the NVSwitches, which write it to all "
      "GPUs of the node. A NIC carries at most twice its GPU's share of the payload, however many nodes there are; "
      "latency grows with their logarithm.";
  algorithm.fabrics = "nodes with NVLink SHARP (H100 and later) and a NIC per GPU";
  return algorithm;
}

}  // namespace athanor
