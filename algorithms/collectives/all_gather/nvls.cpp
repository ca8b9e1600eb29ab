#include "algorithms/patterns/nvls_blocks.hpp"

namespace athanor {

Algorithm nvls_all_gather() {
  Algorithm algorithm = nvls_blocks_algorithm(CollectiveKind::all_gather);
  algorithm.summary = "the NVSwitches of one node multicast every rank's block; a rank sends n/P and receives n";
  algorithm.explanation =
      "Every rank sends its block once to the NVSwitches, which write it to all ranks, to the rank itself, too. A rank "
      "sends 1/P of the payload, where it sends all but 1/P in a ring, and receives all of it, where a ring spares it "
      "its own block. So it has fewer steps than a ring and leaves the way out free, but no more bandwidth.";
  return algorithm;
}

}  // namespace athanor
