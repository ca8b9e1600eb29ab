#include "algorithms/patterns/rounds_algorithm.hpp"

namespace athanor {

Algorithm rounds_gather() {
  Algorithm algorithm = rounds_algorithm(CollectiveKind::gather, RoundsPath::direct);
  algorithm.summary = "the root gets the blocks in rounds, eight at a time on each channel";
  algorithm.formula = "alpha + (P-1)/P n beta";
  algorithm.explanation =
      "All send at once, each block spread over `parts` channels; the root takes them in the order of its rounds, on "
      "each channel `peers_at_once` at a time.";
  algorithm.fabrics = "any";
  return algorithm;
}

}  // namespace athanor
