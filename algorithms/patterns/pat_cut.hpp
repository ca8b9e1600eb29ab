#pragma once

#include "algorithms/patterns/block_ranges.hpp"
#include "algorithms/patterns/pat_tree.hpp"

namespace athanor {

/// How parallel aggregated trees cut a payload: where the layout's chunk has room for two or more channels' parts of a
/// block, one loop moves as many blocks per message as fit; else every message is one chunk of one block. A step moves
/// as many of these over one distance as the layout lets follow each other (NCCL's steps of a buffer: eight).
struct PatCut {
  PatCut(const Collective& collective, const Layout& layout)
      : blocks(aggregated(collective, layout)),
        aggregate(
            std::min(blocks * std::bit_floor(layout.messages_per_step), PatTree::most_aggregate(collective.ranks))),
        tree(collective.ranks, aggregate),
        messages(tree, blocks),
        ranges(collective.count, collective.ranks, blocks > 1 ? whole(layout) : layout, 1) {}

  std::uint32_t blocks;     ///< of one message
  std::uint32_t aggregate;  ///< of one step
  PatTree tree;
  PatMessages messages;
  BlockRanges ranges;

  bool aggregates() const { return aggregate > 1; }
  /// Messages of one step at most, all of which are under way at once: of the first one after those that double.
  std::uint32_t at_once() const { return messages.of(tree.doubling()); }

 private:
  static Layout whole(Layout layout) {
    layout.chunk = Elements::max();
    return layout;
  }
  static std::uint32_t aggregated(const Collective& collective, const Layout& layout) {
    const std::uint32_t most = PatTree::most_aggregate(collective.ranks);
    const Elements chunk = slices_as_chunks(layout).chunk;
    if (chunk == Elements::max()) { return most; }
    const std::int64_t fit = chunk / BlockRanges(collective.count, collective.ranks, whole(layout), 1).widest();
    return std::bit_floor(static_cast<std::uint32_t>(std::clamp<std::int64_t>(fit, 1, most)));
  }
};

}  // namespace athanor
