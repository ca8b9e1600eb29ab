#include "algorithms/patterns/nvls_nodes.hpp"

namespace athanor {

Algorithm nvls_sharp_all_reduce() {
  Algorithm algorithm = nvls_nodes_algorithm(NvlsAcross::aggregation_tree);
  algorithm.name = "nvls_sharp";
  algorithm.summary =
      "NVSwitches add up inside the nodes, switches of the network across them, NVSwitches multicast; NICs carry 1/g";
  algorithm.formula =
      "4 alpha inside and 2 h alpha across, h messages from a head to the top of its tree; with many chunks the "
      "greatest "
      "of (g+1)/g n beta on NVLink and n/g beta on the network, for g ranks of a node";
  algorithm.source =
      "NCCL, src/device/all_reduce.h and src/graph/tuning.cc (NVLS with CollNet); NVIDIA NVLink SHARP and SHARP";
  algorithm.explanation =
      "As nvls_tree inside the nodes; but a head sends the sum of its piece into the network, whose switches add up "
      "what the heads of its place send and multicast the result. A NIC carries its GPU's share of the payload once "
      "out and once in, half of what it does in nvls_tree, and latency grows with the levels of the network alone.";
  algorithm.fabrics = "nodes with NVLink SHARP and a NIC per GPU, on a network whose switches aggregate";
  return algorithm;
}

}  // namespace athanor
