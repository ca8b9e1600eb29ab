#include "algorithms/patterns/rounds_algorithm.hpp"

namespace athanor {

Algorithm rounds_all_to_all_v() {
  Algorithm algorithm = rounds_algorithm(CollectiveKind::all_to_all_v, RoundsPath::direct);
  algorithm.summary = "all blocks in rounds, eight peers at a time on each channel, as a library runs Send and Recv";
  algorithm.formula = "ceil(P/8) alpha + m beta on one channel, m what the busiest rank sends or receives";
  algorithm.explanation =
      "P rounds, the first with oneself: in each a rank sends to one other and gets from one other. On several nodes "
      "the rounds of a group of up to eight ranks follow each other, and groups at triangular distances, so that "
      "successive rounds go far apart. Each message is spread over `parts` channels, and a channel serves "
      "`peers_at_once` peers side by side; when all of these are served, the next ones come. Blocks may have any size.";
  algorithm.fabrics = "any; many channels, each with few messages under way";
  return algorithm;
}

Algorithm rounds_by_rail_all_to_all_v() {
  Algorithm algorithm = rounds_algorithm(CollectiveKind::all_to_all_v, RoundsPath::by_rail);
  algorithm.summary = "as rounds, over the neighbour on the receiver's rail";
  algorithm.formula =
      "ceil(P/8) alpha + m beta on one channel, m what the busiest rank sends or receives, passed on or not, and alpha "
      "more for each eight rounds in which messages are passed on";
  algorithm.explanation =
      "As rounds, but a message to another node goes first to the neighbour whose place in the node is the receiver's, "
      "which passes it on: no message changes its rail, and a NIC sends what the whole node has for one rank after the "
      "other. NCCL calls it PXN.";
  algorithm.fabrics = "nodes with a fast inside and rails: only the inside of nodes joins these";
  return algorithm;
}

}  // namespace athanor
