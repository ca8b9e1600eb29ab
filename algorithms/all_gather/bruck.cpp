#include <algorithm>
#include <bit>

#include "algorithms/catalog.hpp"
#include "algorithms/patterns/block_ranges.hpp"
#include "algorithms/patterns/circulant.hpp"

namespace athanor {

namespace {

std::uint32_t rounds(std::uint32_t ranks) { return static_cast<std::uint32_t>(std::bit_width(ranks - 1)); }

/// Scratch holds a rank's own block and then those of the ranks after it, without gaps. Round k appends the first 2^k
/// blocks of the rank 2^k places after, or as many as are missing; the end copies the blocks to their places, one by
/// one, so that all ranks do the same.
class BruckAllGather final : public Circulant {
 public:
  BruckAllGather(const Collective& collective, const Layout& layout)
      : Circulant(collective),
        ranges_(collective.count, collective.ranks, layout, std::max(1U, std::bit_floor(collective.ranks - 1))) {}

  std::uint32_t lanes(AgentId) const override { return ranges_.channels(); }
  Lane lane(AgentId, LaneId lane) const override {
    const std::uint32_t ports = rounds(ranks());
    return {1 + 2 * ports + ranks(), ranges_.loops(lane.value), ports, ports, ProgramId{ranges_.shape(lane.value)}};
  }
  Memory memory(AgentId agent) const override {
    Memory memory{ranges_.length(agent.value), collective().count, ranges_.widest() * ranks() * ranges_.channels(), {}};
    if (collective().in_place) { memory.in_place = ranges_.first(agent.value).count(); }
    return memory;
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const std::uint32_t me = agent.value;
    if (step == 0) { return own(me, lane.value, loop); }
    if (step > 2 * rounds(ranks())) { return place(me, lane.value, loop, step - 1 - 2 * rounds(ranks())); }
    const std::uint32_t round = (step - 1) / 2;
    const std::uint32_t held = 1U << round;
    const std::uint32_t blocks = std::min(held, ranks() - held);
    const bool sends = step % 2 == 1;
    Primitive primitive;
    if (sends) {
      primitive.count = ranges_.around(me, blocks, lane.value, loop);
      primitive.operands[0] = scratch(lane.value, Elements::zero());
      primitive.sends = {round, 1};
    } else {
      primitive.count = ranges_.around(after(me, held), blocks, lane.value, loop);
      primitive.receives = {round, 1};
      primitive.store = scratch(lane.value, ranges_.around(me, held, lane.value, loop));
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
  std::uint32_t distance(PortId port) const override { return ranks() - (1U << port.value); }

 private:
  Cells scratch(std::uint32_t channel, Elements offset) const {
    return contiguous(Buffer::scratch, ranges_.widest() * ranks() * channel + offset);
  }

  Primitive own(std::uint32_t me, std::uint32_t channel, std::uint64_t loop) const {
    const Piece range = ranges_.part(me, channel, loop);
    Primitive primitive;
    primitive.count = range.count;
    primitive.operands[0] = contiguous(Buffer::input, range.first);
    primitive.store = scratch(channel, Elements::zero());
    return primitive;
  }

  Primitive place(std::uint32_t me, std::uint32_t channel, std::uint64_t loop, std::uint32_t position) const {
    const std::uint32_t owner = after(me, position);
    const Piece range = ranges_.part(owner, channel, loop);
    Primitive primitive;
    primitive.count = range.count;
    primitive.operands[0] = scratch(channel, ranges_.around(me, position, channel, loop));
    primitive.store = contiguous(Buffer::output, ranges_.first(owner) + range.first);
    return primitive;
  }

  BlockRanges ranges_;
};

std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return std::make_unique<BruckAllGather>(collective, layout);
}

Elements granule(const Collective& collective, const Layout& layout) {
  return BlockRanges::granule(collective.ranks, layout);
}

/// A rank sends its first blocks again and again: rank 0 the fullest ones.
Cost cost(const Collective& collective) {
  const BlockRanges ranges(collective.count, collective.ranks, {}, 1);
  Cost result{rounds(collective.ranks), Elements::zero(), Elements::zero()};
  for (std::uint32_t held = 1; held < collective.ranks; held *= 2) {
    result.sent += ranges.elements(0, std::min(held, collective.ranks - held), 0, 0);
  }
  return result;
}

}  // namespace

Algorithm bruck_all_gather() {
  return {
      .name = "bruck",
      .kind = CollectiveKind::all_gather,
      .summary = "the blocks that a rank holds double in each round, for any number of ranks; for small payloads",
      .formula = "ceil(log2 P) alpha + (P-1)/P n beta",
      .source =
          "Bruck, Ho, Kipnis, Upfal and Weathersby, Efficient algorithms for all-to-all communications in multiport "
          "message-passing systems, 1997",
      .explanation =
          "In round k every rank gets all blocks that the rank 2^k places after it holds (as many as are missing, in "
          "the last round), so that the blocks double; at the end each copies them to their places.",
      .ranks = "any number of ranks, in ceil(log2 P) rounds",
      .fabrics = "small payloads; numbers of ranks that are no power of two",
      .make_for_many = make,
      .granule_for_many = granule,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
