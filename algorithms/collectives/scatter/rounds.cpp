#include "algorithms/patterns/rounds_algorithm.hpp"

namespace athanor {

Algorithm rounds_scatter() {
  Algorithm algorithm = rounds_algorithm(CollectiveKind::scatter, RoundsPath::direct);
  algorithm.summary = "the root sends the blocks in rounds, eight at a time on each channel";
  algorithm.formula = "ceil(P/8) alpha + (P-1)/P n beta on one channel";
  algorithm.explanation =
      "The root sends the blocks in the order of its rounds, each spread over `parts` channels, and on each channel "
      "`peers_at_once` at a time.";
  algorithm.fabrics = "any";
  return algorithm;
}

}  // namespace athanor
