#include <algorithm>
#include <bit>

#include "algorithms/catalog.hpp"
#include "algorithms/patterns/block_ranges.hpp"
#include "algorithms/patterns/circulant.hpp"

namespace athanor {

namespace {

std::uint32_t rounds(std::uint32_t ranks) { return static_cast<std::uint32_t>(std::bit_width(ranks - 1)); }

/// Bruck's all-gather backwards. Scratch begins with a rank's own block and holds those of the ranks after it, without
/// gaps, copied there one by one, so that all ranks do the same. Round k = ceil(log2 P)-1 .. 0 gives the sums of the
/// blocks from 2^k on to the rank 2^k places after, which adds them to its first ones.
class BruckReduceScatter final : public Circulant {
 public:
  BruckReduceScatter(const Collective& collective, const Layout& layout)
      : Circulant(collective),
        ranges_(collective.count, collective.ranks, layout, std::bit_floor(collective.ranks - 1)) {}

  std::uint32_t lanes(AgentId) const override { return ranges_.channels(); }
  Lane lane(AgentId, LaneId lane) const override {
    const std::uint32_t ports = rounds(ranks());
    return {ranks() + 2 * ports + 1, ranges_.loops(lane.value), ports, ports, ProgramId{ranges_.shape(lane.value)}};
  }
  Memory memory(AgentId agent) const override {
    Memory memory{collective().count, ranges_.length(agent.value), ranges_.widest() * ranks() * ranges_.channels(), {}};
    if (collective().in_place) { memory.in_place = -ranges_.first(agent.value).count(); }
    return memory;
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const std::uint32_t me = agent.value;
    if (step < ranks()) { return take(me, lane.value, loop, step); }
    const std::uint32_t half = step - ranks();
    if (half == 2 * rounds(ranks())) { return finish(me, lane.value, loop); }
    const std::uint32_t round = rounds(ranks()) - 1 - half / 2;
    const std::uint32_t kept = 1U << round;
    const std::uint32_t blocks = std::min(kept, ranks() - kept);
    Primitive primitive;
    if (half % 2 == 0) {
      primitive.count = ranges_.around(after(me, kept), blocks, lane.value, loop);
      primitive.operands[0] = scratch(lane.value, ranges_.around(me, kept, lane.value, loop));
      primitive.sends = {round, 1};
    } else {
      primitive.count = ranges_.around(me, blocks, lane.value, loop);
      primitive.operands[0] = scratch(lane.value, Elements::zero());
      primitive.receives = {round, 1};
      primitive.store = primitive.operands[0];
    }
    return primitive;
  }

  Elements message_limit() const override {
    return std::min(collective().count, ranges_.widest() * std::bit_floor(ranks() - 1));
  }
  Elements shift(Buffer buffer) const override {
    return buffer == Buffer::scratch ? Elements::zero() : ranges_.shift();
  }
  std::uint32_t least_slots() const override { return 1; }

 protected:
  std::uint32_t distance(PortId port) const override { return 1U << port.value; }

 private:
  Cells scratch(std::uint32_t channel, Elements offset) const {
    return contiguous(Buffer::scratch, ranges_.widest() * ranks() * channel + offset);
  }

  Primitive take(std::uint32_t me, std::uint32_t channel, std::uint64_t loop, std::uint32_t position) const {
    const std::uint32_t owner = after(me, position);
    const Piece range = ranges_.part(owner, channel, loop);
    Primitive primitive;
    primitive.count = range.count;
    primitive.operands[0] = contiguous(Buffer::input, ranges_.first(owner) + range.first);
    primitive.store = scratch(channel, ranges_.around(me, position, channel, loop));
    return primitive;
  }

  Primitive finish(std::uint32_t me, std::uint32_t channel, std::uint64_t loop) const {
    const Piece range = ranges_.part(me, channel, loop);
    Primitive primitive;
    primitive.count = range.count;
    primitive.operands[0] = scratch(channel, Elements::zero());
    primitive.store = contiguous(Buffer::output, range.first);
    primitive.finish = true;
    return primitive;
  }

  BlockRanges ranges_;
};

std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return std::make_unique<BruckReduceScatter>(collective, layout);
}

Elements granule(const Collective& collective, const Layout& layout) {
  return BlockRanges::granule(collective.ranks, layout);
}

/// A rank sends every block but its own, of which the last is the shortest, and adds to its first ones.
Cost cost(const Collective& collective) {
  const BlockRanges ranges(collective.count, collective.ranks, {}, 1);
  const Elements last = block(collective.count, collective.ranks, collective.ranks - 1).count;
  Cost result{rounds(collective.ranks), collective.count - last, Elements::zero()};
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
      .granule_for_many = granule,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
