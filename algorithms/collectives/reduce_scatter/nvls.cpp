#include "algorithms/patterns/nvls_blocks.hpp"

namespace athanor {

Algorithm nvls_reduce_scatter() {
  Algorithm algorithm = nvls_blocks_algorithm(CollectiveKind::reduce_scatter);
  algorithm.summary =
      "the NVSwitches of one node add up each rank's block as it loads it; a rank sends n, receives n/P";
  algorithm.explanation =
      "Every rank loads its block from all ranks at once, and the NVSwitches add up what they read. A rank gives away "
      "the payload and receives 1/P of it, where it receives all but 1/P in a ring, and adds nothing itself. It has "
      "fewer steps than a ring and leaves the way in free, but no more bandwidth.";
  return algorithm;
}

}  // namespace athanor
