#include "algorithms/patterns/rounds_algorithm.hpp"

namespace athanor {

Algorithm rounds_all_to_all() {
  Algorithm algorithm = all_to_all_in_rounds(CollectiveKind::all_to_all, RoundsPath::direct);
  algorithm.formula = "ceil(P/8) alpha + (P-1)/P n beta on one channel";
  return algorithm;
}

Algorithm rounds_by_rail_all_to_all() {
  Algorithm algorithm = all_to_all_in_rounds(CollectiveKind::all_to_all, RoundsPath::by_rail);
  algorithm.formula =
      "ceil(P/8) alpha + (P-1)/P n beta on one channel, and alpha more for each eight rounds in which messages are "
      "passed on; (P-g)(g-1)/(gP) n beta more in a node of g";
  return algorithm;
}

}  // namespace athanor
