#include <algorithm>
#include <bit>

#include "algorithms/patterns/circulant.hpp"
#include "algorithms/patterns/reversible.hpp"

namespace athanor {

namespace {

std::uint32_t rounds(std::uint32_t ranks) { return static_cast<std::uint32_t>(std::bit_width(ranks - 1)); }

/// Scratch holds a rank's own block and then those of the ranks after it, without gaps. Round k appends the first 2^k
/// blocks of the rank 2^k places after, or as many as are missing; the end copies the blocks to their places, one by
/// one, so that all ranks do the same.
class BruckAllGather final : public Circulant<BlockSchedule> {
 public:
  BruckAllGather(const Collective& collective, const Layout& layout, Direction copies)
      : Circulant(collective, std::bit_floor(collective.ranks - 1), layout), copies_(copies) {}

  Lane lane(AgentId, LaneId lane) const override {
    const std::uint32_t ports = rounds(ranks());
    return {1 + 2 * ports + ranks(), cut().loops(lane.value), ports, ports, ProgramId{cut().shape(lane.value)}};
  }
  Memory memory(AgentId agent) const override {
    Memory memory = Circulant::memory(agent);
    memory.scratch = cut().widest() * ranks() * cut().channels();
    return memory;
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const std::uint32_t me = agent.value;
    const std::uint32_t exchanges = 2 * rounds(ranks());
    if (step == 0) { return own(me, lane.value, loop); }
    if (step > exchanges) { return place(me, lane.value, loop, step - 1 - exchanges); }
    const std::uint32_t round = (step - 1) / 2;
    const std::uint32_t held = 1U << round;
    const std::uint32_t blocks = std::min(held, ranks() - held);
    if (step % 2 == 1) {
      Primitive primitive = over(cut().around(me, blocks, lane.value, loop));
      primitive.operands[0] = scratch(lane.value, Elements::zero());
      primitive.sends = {round, 1};
      return primitive;
    }
    Primitive primitive = over(cut().around(after(me, held), blocks, lane.value, loop));
    primitive.receives = {round, 1};
    primitive.store = scratch(lane.value, cut().around(me, held, lane.value, loop));
    return primitive;
  }

  Elements message_limit() const override {
    return std::min(collective().count, cut().widest() * std::bit_floor(ranks() - 1));
  }
  Elements shift(Buffer buffer) const override { return buffer == Buffer::scratch ? Elements::zero() : cut().shift(); }

 protected:
  std::uint32_t distance(PortId port) const override { return ranks() - (1U << port.value); }

 private:
  Cells scratch(std::uint32_t channel, Elements offset) const {
    return contiguous(Buffer::scratch, cut().widest() * ranks() * channel + offset);
  }

  Primitive own(std::uint32_t me, std::uint32_t channel, std::uint64_t loop) const {
    const Piece range = cut().part(me, channel, loop);
    Primitive primitive = over(range);
    primitive.operands[0] = contiguous(Buffer::input, range.first);
    primitive.store = scratch(channel, Elements::zero());
    return primitive;
  }

  Primitive place(std::uint32_t me, std::uint32_t channel, std::uint64_t loop, std::uint32_t number) const {
    const std::uint32_t position = copies_ == Direction::forwards ? number : ranks() - 1 - number;
    const std::uint32_t owner = after(me, position);
    const Piece range = cut().part(owner, channel, loop);
    Primitive primitive = over(range);
    primitive.operands[0] = scratch(channel, cut().around(me, position, channel, loop));
    primitive.store = contiguous(Buffer::output, cut().first(owner) + range.first);
    return primitive;
  }

  Direction copies_;
};

std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return bruck_all_gather_schedule(collective, layout, Direction::forwards);
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

std::unique_ptr<const Schedule> bruck_all_gather_schedule(const Collective& collective, const Layout& layout,
                                                          Direction copies) {
  return std::make_unique<BruckAllGather>(collective, layout, copies);
}

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
      .granule_for_many = granule_of_blocks,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
