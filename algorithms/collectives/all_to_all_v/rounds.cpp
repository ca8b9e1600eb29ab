#include "algorithms/patterns/rounds_algorithm.hpp"

namespace athanor {

Algorithm rounds_all_to_all_v() {
  Algorithm algorithm = all_to_all_in_rounds(CollectiveKind::all_to_all_v, RoundsPath::direct);
  algorithm.formula = "ceil(P/8) alpha + m beta on one channel, m what the busiest rank sends or receives";
  algorithm.explanation += " Blocks may have any size.";
  return algorithm;
}

Algorithm rounds_by_rail_all_to_all_v() {
  Algorithm algorithm = all_to_all_in_rounds(CollectiveKind::all_to_all_v, RoundsPath::by_rail);
  algorithm.formula =
      "ceil(P/8) alpha + m beta on one channel, m what the busiest rank sends or receives, passed on or not, and alpha "
      "more for each eight rounds in which messages are passed on";
  return algorithm;
}

}  // namespace athanor
