#include <algorithm>
#include <bit>

#include "algorithms/catalog.hpp"
#include "algorithms/patterns/block_ranges.hpp"
#include "algorithms/patterns/reversible.hpp"
#include "algorithms/schedule/reversed.hpp"

namespace athanor {

namespace {

/// Scratch begins with a rank's own block and holds those of the ranks after it. Round k = ceil(log2 P)-1 .. 0 gives
/// the sums of the blocks from 2^k on to the rank 2^k places after, which adds them to its first ones.
std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return reversed(bruck_all_gather_schedule(dual_of(collective), layout, Direction::backwards), collective);
}

/// A rank sends every block but its own, of which the last is the shortest, and adds to its first ones.
Cost cost(const Collective& collective) {
  const BlockRanges ranges(collective.count, collective.ranks, {}, 1);
  const Elements last = block(collective.count, collective.ranks, collective.ranks - 1).count;
  Cost result{static_cast<std::uint32_t>(std::bit_width(collective.ranks - 1)), collective.count - last,
              Elements::zero()};
  for (std::uint32_t kept = 1; kept < collective.ranks; kept *= 2) {
    result.reduced += ranges.elements(0, std::min(kept, collective.ranks - kept), 0, 0);
  }
  return result;
}

}  // namespace

Algorithm bruck_reduce_scatter() {
  return {
      .name = "bruck",
      .kind = CollectiveKind::reduce_scatter,
      .summary =
          "the blocks that a rank still sums up halve in each round, for any number of ranks; for small payloads",
      .formula = "ceil(log2 P) alpha + (P-1)/P n (beta + gamma)",
      .source = "Bruck and Ho, Efficient global combine operations in multi-port message-passing systems, 1993",
      .explanation =
          "Bruck's all-gather backwards: in each round a rank hands half of the blocks that it still sums up to the "
          "rank 2^k places after it, and adds the half that it gets.",
      .ranks = "any number of ranks, in ceil(log2 P) rounds",
      .fabrics = "small payloads; numbers of ranks that are no power of two",
      .make_for_many = make,
      .granule_for_many = granule_of_blocks,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
