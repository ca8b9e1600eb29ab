#include "algorithms/catalog.hpp"
#include "algorithms/patterns/reversible.hpp"
#include "algorithms/schedule/reversed.hpp"

namespace athanor {

namespace {

/// The block of a rank starts at the rank after it and is reduced on its way around, slice after slice.
std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return reversed(ring_all_gather_schedule(dual_of(collective), layout, Direction::backwards), collective,
                  layout.slices);
}

/// Every rank sends all blocks but its own and reduces all but the one that it starts; the last is the shortest.
Cost cost(const Collective& collective) {
  const Elements most = collective.count - block(collective.count, collective.ranks, collective.ranks - 1).count;
  return {collective.ranks - 1, most, most};
}

}  // namespace

Algorithm ring_reduce_scatter() {
  return {
      .name = "ring",
      .kind = CollectiveKind::reduce_scatter,
      .summary = "each block is reduced on its way around a ring to its owner",
      .formula = "(P-1) alpha + (P-1)/P n beta + (P-1)/P n gamma",
      .source =
          "Chan, Heimlich, Purkayastha and van de Geijn, Collective communication: theory, practice, and experience, "
          "2007",
      .explanation =
          "The block of a rank starts at the rank after it and travels once around the ring; every rank adds its "
          "share, and the owner adds last.",
      .ranks = "any number of ranks",
      .fabrics = "large payloads on any fabric",
      .make_for_many = make,
      .granule_for_many = granule_of_blocks,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
