#include "algorithms/patterns/collnet.hpp"

namespace athanor {

Algorithm collnet_chain_all_reduce() {
  Algorithm algorithm = collnet_algorithm(CollNetPath::chain);
  algorithm.name = "collnet_chain";
  algorithm.summary =
      "chains through each node add up, one ending at each GPU; switches of the network add up across nodes; and back";
  algorithm.formula =
      "2(g-1) alpha inside and 2 h alpha across, h messages from a head to the top of its tree; with many chunks the "
      "greatest of 2(g-1)/g n beta inside and n/g beta on the network, and (g-1)/g n gamma, for g ranks of a node";
  algorithm.explanation =
      "A chain through the ranks of a node adds up a piece on its way to the head of that piece; each rank is the head "
      "of one, so that there are as many chains as ranks, and every NIC is used. Where a library's orders are known, "
      "each "
      "channel has one chain, in its order, and belongs to the head at its end, as NCCL does it. "
      "The head sends the sum into the network, whose switches add up what the heads of its place on all nodes send "
      "and multicast the result, which goes back along the chain.";
  return algorithm;
}

}  // namespace athanor
