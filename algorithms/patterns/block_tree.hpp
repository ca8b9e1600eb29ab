#pragma once

#include <algorithm>
#include <cstdint>

#include "algorithms/collective.hpp"
#include "algorithms/patterns/binomial_tree.hpp"
#include "algorithms/patterns/block_ranges.hpp"
#include "algorithms/schedule.hpp"

namespace athanor {

/// What gather and scatter along a binomial tree share. A subtree has successive ranks, so its blocks lie one after the
/// other in the vector, but where rank 0 follows the last rank; that happens in at most one child of the root, whose
/// blocks the root keeps in scratch too. Other ranks with children have the blocks of their subtree in scratch, in the
/// order of ranks from their own, without gaps. One lane per channel.
class BlockTree : public Schedule {
 public:
  BlockTree(const Collective& collective, const Layout& layout)
      : collective_(collective),
        tree_(collective.ranks, collective.root),
        ranges_(collective.count, collective.ranks, layout, most_blocks(collective.ranks)) {}

  Roster roster() const final { return {collective_.ranks, collective_.ranks}; }
  std::uint32_t lanes(AgentId) const final { return ranges_.channels(); }
  Elements message_limit() const final {
    return std::min(collective_.count, ranges_.widest() * most_blocks(collective_.ranks));
  }
  Elements shift(Buffer buffer) const final { return buffer == Buffer::scratch ? Elements::zero() : ranges_.shift(); }
  std::uint32_t least_slots() const final { return 1; }

  /// That the root exchanges with a child, with one channel and one loop.
  Elements largest_message() const {
    Elements largest;
    for (std::uint32_t i = 0; i < tree_.children(collective_.root); ++i) {
      largest = std::max(largest, around(subtree(tree_.child(collective_.root, i)), {0, 0}));
    }
    return largest;
  }

 protected:
  struct Place {
    std::uint32_t channel;
    std::uint64_t loop;
  };
  /// Ranks first, first + 1, ...; rank 0 follows the last.
  struct Subtree {
    std::uint32_t first;
    std::uint32_t size;
  };

  const Collective& collective() const { return collective_; }
  const BinomialTree& tree() const { return tree_; }
  const BlockRanges& ranges() const { return ranges_; }

  Subtree subtree(std::uint32_t rank) const {
    if (tree_.is_root(rank)) { return {rank, collective_.ranks}; }
    const std::uint32_t from_root = (rank + collective_.ranks - collective_.root) % collective_.ranks;
    return {rank, std::min(1U << tree_.index(rank), collective_.ranks - from_root)};
  }
  bool wraps(const Subtree& subtree) const { return subtree.size > collective_.ranks - subtree.first; }
  Elements around(const Subtree& subtree, const Place& place) const {
    return ranges_.around(subtree.first, subtree.size, place.channel, place.loop);
  }
  /// Where the blocks of child i begin in a rank's scratch.
  Elements offset(std::uint32_t rank, std::uint32_t i, const Place& place) const {
    return around({rank, 1U << i}, place);
  }

  /// Of the same subtree size, as far as all do the same.
  ProgramId program(std::uint32_t rank, LaneId lane) const {
    const std::uint32_t role = tree_.is_root(rank) ? 0 : subtree(rank).size;
    return ProgramId{role * ranges_.channels() + ranges_.shape(lane.value)};
  }
  /// Own block, each child, all at once if there are any but at the root, two halves of a wrapped message at the root.
  std::uint32_t steps(std::uint32_t rank) const {
    const std::uint32_t children = tree_.children(rank);
    if (tree_.is_root(rank)) { return 1 + children + (wrapped_child().size > 0 ? 2 : 0); }
    return children == 0 ? 1 : children + 2;
  }
  Elements scratch_size(std::uint32_t rank) const { return scratch_per_channel(rank) * ranges_.channels(); }

  Endpoint parent(AgentId agent, LaneId lane) const {
    return {AgentId{tree_.parent(agent.value)}, lane, PortId{tree_.index(agent.value)}};
  }
  Endpoint child(AgentId agent, LaneId lane, PortId port) const {
    return {AgentId{tree_.child(agent.value, port.value)}, lane, PortId{0}};
  }

  Cells scratch(std::uint32_t rank, const Place& place, Elements offset) const {
    return contiguous(Buffer::scratch, scratch_per_channel(rank) * place.channel + offset);
  }
  Cells blocks(Buffer buffer, std::uint32_t first, const Place& place) const {
    return ranges_.cells(buffer, first, place.channel, place.loop);
  }

  /// The part of the root's wrapped message up to the last rank's block (half 0) or from rank 0's on (half 1).
  Primitive wrapped(const Place& place, std::uint32_t half) const {
    const Subtree child = wrapped_child();
    const std::uint32_t before = collective_.ranks - child.first;
    Primitive primitive;
    primitive.count = half == 0 ? ranges_.elements(child.first, before, place.channel, place.loop)
                                : ranges_.elements(0, child.size - before, place.channel, place.loop);
    return primitive;
  }
  Cells wrapped_scratch(const Place& place, std::uint32_t half) const {
    return scratch(collective_.root, place, half == 0 ? Elements::zero() : wrapped(place, 0).count);
  }
  Cells wrapped_blocks(Buffer buffer, const Place& place, std::uint32_t half) const {
    return blocks(buffer, half == 0 ? wrapped_child().first : 0, place);
  }

 private:
  static std::uint32_t most_blocks(std::uint32_t ranks) {
    std::uint32_t most = 1;
    for (std::uint32_t size = 1; size < ranks; size *= 2) { most = std::max(most, std::min(size, ranks - size)); }
    return most;
  }
  Elements scratch_per_channel(std::uint32_t rank) const {
    if (tree_.is_root(rank)) { return ranges_.widest() * wrapped_child().size; }
    return tree_.children(rank) == 0 ? Elements::zero() : ranges_.widest() * subtree(rank).size;
  }
  /// Of the root; of size 0 if there is none.
  Subtree wrapped_child() const {
    for (std::uint32_t i = 0; i < tree_.children(collective_.root); ++i) {
      const Subtree below = subtree(tree_.child(collective_.root, i));
      if (wraps(below)) { return below; }
    }
    return {0, 0};
  }

  Collective collective_;
  BinomialTree tree_;
  BlockRanges ranges_;
};

}  // namespace athanor
