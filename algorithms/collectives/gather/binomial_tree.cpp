#include "algorithms/patterns/binomial_tree.hpp"

#include <algorithm>

#include "algorithms/catalog.hpp"
#include "algorithms/patterns/block_ranges.hpp"
#include "algorithms/patterns/reversible.hpp"
#include "algorithms/schedule/reversed.hpp"

namespace athanor {

namespace {

/// A rank puts its own block and those that its children send, the smallest subtree first, one after the other into
/// scratch and sends all to its parent. The root stores what arrives in its output.
std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return reversed(binomial_tree_scatter_schedule(dual_of(collective), layout, Direction::backwards), collective);
}

/// The largest message is one to the root: those of its children that have the most blocks, or fuller ones.
Cost cost(const Collective& collective) {
  const BinomialTree tree(collective.ranks, collective.root);
  const BlockRanges ranges(collective.count, collective.ranks, {}, 1);
  Elements largest;
  for (std::uint32_t i = 0; i < tree.children(collective.root); ++i) {
    const std::uint32_t size = std::min(1U << i, collective.ranks - (1U << i));
    largest = std::max(largest, ranges.around(tree.child(collective.root, i), size, 0, 0));
  }
  return {tree.depth(), largest, Elements::zero()};
}

}  // namespace

Algorithm binomial_tree_gather() {
  return {
      .name = "binomial_tree",
      .kind = CollectiveKind::gather,
      .summary = "subtrees of doubling size hand their blocks on; for small payloads",
      .formula = "floor(log2 P) alpha + (P-1)/P n beta at most, at the root's port",
      .source =
          "Chan, Heimlich, Purkayastha and van de Geijn, Collective communication: theory, practice, and experience, "
          "2007",
      .explanation = "Subtrees of doubling size hand their blocks on as one message, until the root has all.",
      .ranks = "any number of ranks",
      .fabrics = "small blocks",
      .make_for_many = make,
      .granule_for_many = granule_of_blocks,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
