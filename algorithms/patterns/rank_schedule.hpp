#pragma once

#include <cstdint>
#include <utility>

#include "algorithms/catalog.hpp"
#include "algorithms/patterns/block_ranges.hpp"
#include "algorithms/schedule/contract.hpp"

namespace athanor {

/// What schedules of the catalog share. Unless they say otherwise, there are no agents but the ranks, there is no
/// scratch, and one slot per connection will do.
class RankSchedule : public Schedule {
 public:
  explicit RankSchedule(const Collective& collective) : collective_(collective) {}

  AgentCount agent_count() const override { return {ranks(), ranks()}; }
  Memory memory(AgentId agent) const override {
    return is_rank(agent) ? user_memory(collective_, agent.value) : Memory{};
  }
  std::uint32_t least_slots() const override { return 1; }

 protected:
  const Collective& collective() const { return collective_; }
  std::uint32_t ranks() const { return collective_.ranks; }
  bool is_rank(AgentId agent) const { return agent.value < ranks(); }
  bool is_root(AgentId agent) const { return agent.value == collective_.root; }
  /// The rank `places` after another one, or before it. Requires places <= ranks.
  std::uint32_t after(std::uint32_t rank, std::uint32_t places) const {
    const std::uint64_t sum = std::uint64_t{rank} + places;
    return static_cast<std::uint32_t>(sum < ranks() ? sum : sum - ranks());
  }
  std::uint32_t before(std::uint32_t rank, std::uint32_t places) const { return after(rank, ranks() - places); }

  /// A primitive over so many elements, to which the caller adds what is done.
  static Primitive over(Elements count) {
    Primitive primitive;
    primitive.count = count;
    return primitive;
  }
  static Primitive over(const ElementRange& range) { return over(range.count); }
  /// Over a range of the vector and one port: sends it from a buffer, stores it in one as it arrives, or adds what
  /// arrives to what a buffer has.
  static Primitive sending(const ElementRange& range, Buffer from, std::uint32_t port) {
    Primitive primitive = over(range);
    primitive.operands[0] = contiguous(from, range.first);
    primitive.sends = {port, 1};
    return primitive;
  }
  static Primitive receiving(const ElementRange& range, Buffer to, std::uint32_t port) {
    Primitive primitive = over(range);
    primitive.receives = {port, 1};
    primitive.store = contiguous(to, range.first);
    return primitive;
  }
  static Primitive adding(const ElementRange& range, Buffer from, Buffer to, std::uint32_t port) {
    Primitive primitive = receiving(range, to, port);
    primitive.operands[0] = contiguous(from, range.first);
    return primitive;
  }

 private:
  Collective collective_;
};

/// For Algorithm::cost_in_shape of an algorithm that is one class, which counts what it does.
template <class Kind>
Cost cost_of_schedule(const Collective& collective, const Layout& layout) {
  return Kind(collective, layout).cost();
}

/// What those share whose payload a VectorCut, a BlockCut or BlockRanges cuts. Unless they say otherwise, a rank has
/// one lane per channel, and each loop moves on by as much in every buffer.
template <class Cut>
class CutSchedule : public RankSchedule {
 public:
  CutSchedule(const Collective& collective, Cut cut) : RankSchedule(collective), cut_(std::move(cut)) {}

  std::uint32_t lanes(AgentId) const override { return cut_.channels(); }
  Elements message_limit() const override { return cut_.message_limit(); }
  Elements shift(Buffer) const override { return cut_.shift(); }

 protected:
  const Cut& cut() const { return cut_; }

 private:
  Cut cut_;
};

/// Over a vector of which a loop moves so many pieces (see VectorCut).
class VectorSchedule : public CutSchedule<VectorCut> {
 public:
  VectorSchedule(const Collective& collective, std::uint32_t pieces, const Layout& layout)
      : CutSchedule(collective, VectorCut(collective.count, pieces, layout)) {}
};

/// Over a block for each rank, at most so many of which are in one message (see BlockRanges).
class BlockSchedule : public CutSchedule<BlockRanges> {
 public:
  BlockSchedule(const Collective& collective, std::uint32_t most_blocks, const Layout& layout)
      : CutSchedule(collective, BlockRanges(collective.count, collective.ranks, layout, most_blocks)) {}
};

}  // namespace athanor
