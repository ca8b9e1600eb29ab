#include "algorithms/catalog.hpp"
#include "algorithms/patterns/reversible.hpp"
#include "algorithms/schedule/reversed.hpp"

namespace athanor {

namespace {

/// Per channel a rank has P lanes. Lane d sends the block of the rank d places after; lane 0 adds what all others sent
/// to its own, in-port d-1 from the rank d places before.
std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return reversed(direct_all_gather_schedule(dual_of(collective), layout, Direction::backwards), collective);
}

/// Every rank sends all blocks but its own, of which the last is the shortest.
Cost cost(const Collective& collective) {
  const Elements last = block(collective.count, collective.ranks, collective.ranks - 1).count;
  return {1, collective.count - last, block(collective.count, collective.ranks, 0).count * (collective.ranks - 1)};
}

}  // namespace

Algorithm direct_reduce_scatter() {
  return {
      .name = "direct",
      .kind = CollectiveKind::reduce_scatter,
      .summary = "every rank sends each block to its owner at once; for few ranks in reach of each other",
      .formula = "alpha + (P-1)/P n (beta + gamma)",
      .source =
          "Chan, Heimlich, Purkayastha and van de Geijn, Collective communication: theory, practice, and experience, "
          "2007",
      .explanation = "Every rank sends each block to its owner at once; the owner adds up P-1 shares.",
      .ranks = "any number of ranks",
      .fabrics = "few ranks in reach of each other, inside a node",
      .make_for_many = make,
      .granule_for_many = granule_of_blocks,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
