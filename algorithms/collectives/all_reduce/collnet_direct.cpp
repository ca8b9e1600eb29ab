#include "algorithms/patterns/collnet.hpp"

namespace athanor {

Algorithm collnet_direct_all_reduce() {
  Algorithm algorithm = collnet_algorithm(CollNetPath::direct);
  algorithm.name = "collnet_direct";
  algorithm.summary =
      "each GPU of a node adds up one piece; switches of the network add up across nodes; each GPU spreads its piece";
  algorithm.formula =
      "2 alpha inside and 2 h alpha across, h messages from a head to the top of its tree; with many chunks the "
      "greatest "
      "of 2(g-1)/g n beta inside and n/g beta on the network, and (g-1)/g n gamma, for g ranks of a node";
  algorithm.explanation =
      "Every rank of a node is the head of one piece: all others send it their shares, and it adds them up. The head "
      "sends the sum into the network, whose switches add up what the heads of its place on all nodes send and "
      "multicast the result, which the head sends to all ranks of its node. Two messages inside, however many ranks.";
  return algorithm;
}

}  // namespace athanor
