#include "algorithms/catalog.hpp"
#include "algorithms/patterns/reversible.hpp"
#include "algorithms/schedule/reversed.hpp"

namespace athanor {

namespace {

std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return reversed(linear_scatter_schedule(dual_of(collective), layout), collective);
}

/// The fullest block but the root's is sent once.
Cost cost(const Collective& collective) {
  return {1, block(collective.count, collective.ranks, collective.root == 0 ? 1 : 0).count, Elements::zero()};
}

}  // namespace

Algorithm linear_gather() {
  return {
      .name = "linear",
      .kind = CollectiveKind::gather,
      .summary = "all send their blocks to the root at once",
      .formula = "alpha + (P-1)/P n beta, at the root's port",
      .source =
          "Chan, Heimlich, Purkayastha and van de Geijn, Collective communication: theory, practice, and experience, "
          "2007",
      .explanation = "All send their block to the root at once, whose port they share.",
      .ranks = "any number of ranks",
      .fabrics = "few ranks, or large blocks",
      .make_for_many = make,
      .granule_for_many = granule_of_blocks,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
