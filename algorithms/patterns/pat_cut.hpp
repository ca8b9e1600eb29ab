#pragma once

#include "algorithms/patterns/circulant.hpp"
#include "algorithms/patterns/pat_tree.hpp"

namespace athanor {

/// How parallel aggregated trees cut a payload: where the layout's chunk has room for two or more channels' parts of a
/// block, one loop moves as many blocks per message as fit; else every message is one chunk of one block. A step moves
/// as many of these over one distance as the layout lets follow each other (NCCL's steps of a buffer: eight).
struct PatCut {
  PatCut(const Collective& collective, const Layout& layout)
      : blocks(aggregated(collective, layout)),
        aggregate(std::min(blocks * std::bit_floor(layout.as<AggregatedTreeShape>().messages_per_step),
                           PatTree::most_aggregate(collective.ranks))),
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

/// What all-gather and reduce-scatter by parallel aggregated trees share: one lane per channel, out-port b of which
/// leads to the rank 2^b places away. Messages of several blocks go through scratch, where a position of a full block's
/// width belongs to each place of a tree.
class PatBlocks : public Circulant<RankSchedule> {
 public:
  PatBlocks(const Collective& collective, const Layout& layout) : Circulant(collective), cut_(collective, layout) {}

  std::uint32_t lanes(AgentId) const final { return ranges().channels(); }
  Lane lane(AgentId, LaneId lane) const final {
    const std::uint32_t copies = cut_.aggregates() ? ranks() + 1 : 0;
    const std::uint32_t ports = cut_.tree.dimensions();
    return {2 * cut_.messages.all() + copies, ranges().loops(lane.value), ports, ports,
            ProgramId{ranges().shape(lane.value)}};
  }
  Memory memory(AgentId agent) const final {
    Memory memory = Circulant::memory(agent);
    memory.scratch = ranges().widest() * positions() * ranges().channels();
    return memory;
  }
  Elements message_limit() const final { return ranges().widest() * cut_.blocks; }
  Elements shift(Buffer buffer) const final { return buffer == Buffer::scratch ? Elements::zero() : ranges().shift(); }
  std::uint32_t least_slots() const final { return cut_.at_once(); }

 protected:
  struct Part {
    std::uint32_t rank;
    std::uint32_t channel;
    std::uint64_t loop;
  };

  /// Of scratch, in each channel.
  virtual std::uint32_t positions() const = 0;

  const PatCut& cut() const { return cut_; }
  const BlockRanges& ranges() const { return cut_.ranges; }

  Cells position(const Part& part, std::uint32_t number) const {
    return contiguous(Buffer::scratch, ranges().widest() * positions() * part.channel +
                                           ranges().width(part.channel, part.loop) * number);
  }
  /// A step's full blocks from a place on, in scratch.
  Cells blocks(const Part& part, const PatTree::Step& step, std::uint32_t place) const {
    Cells cells = position(part, place);
    cells.run = ranges().width(part.channel, part.loop);
    cells.stride = cells.run * step.stride;
    return cells;
  }
  Primitive over_blocks(const Part& part, const PatTree::Step& step) const {
    return over(ranges().width(part.channel, part.loop) * step.places);
  }

 private:
  PatCut cut_;
};

}  // namespace athanor
