#include "algorithms/patterns/rounds_algorithm.hpp"

namespace athanor {

Algorithm rounds_send_receive() {
  Algorithm algorithm = rounds_algorithm(CollectiveKind::send_receive, RoundsPath::direct);
  algorithm.summary = "one message, spread over the channels of a peer";
  algorithm.formula = "alpha + n beta";
  algorithm.explanation =
      "The message from the root to the rank after it is spread over `parts` channels, each of which moves its part "
      "chunk after chunk.";
  algorithm.fabrics = "any";
  return algorithm;
}

}  // namespace athanor
