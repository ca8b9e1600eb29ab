#include <algorithm>
#include <bit>

#include "algorithms/patterns/circulant.hpp"

namespace athanor {

namespace {

std::uint32_t rounds(std::uint32_t ranks) { return static_cast<std::uint32_t>(std::bit_width(ranks - 1)); }

/// Of 0 .. ranks-1, those with bit `round` set.
std::uint32_t moved(std::uint32_t ranks, std::uint32_t round) {
  const std::uint32_t bit = 1U << round;
  return ranks / (2 * bit) * bit + std::max(ranks % (2 * bit), bit) - bit;
}

std::uint32_t most_moved(std::uint32_t ranks) {
  std::uint32_t most = 1;
  for (std::uint32_t round = 0; round < rounds(ranks); ++round) { most = std::max(most, moved(ranks, round)); }
  return most;
}

/// Position j of scratch first holds the block for the rank j places after. Round k moves what stands at the positions
/// with bit k set to the rank 2^k places after; at the end position j holds the block of the rank j places before.
/// Positions are as wide as a full block, so that all messages of a round are equal.
class BruckAllToAll final : public Circulant<BlockSchedule> {
 public:
  BruckAllToAll(const Collective& collective, const Layout& layout)
      : Circulant(collective, most_moved(collective.ranks), layout) {}

  Lane lane(AgentId, LaneId lane) const override {
    const std::uint32_t ports = rounds(ranks());
    return {2 * ranks() + 2 * ports, cut().loops(lane.value), ports, ports, ProgramId{cut().shape(lane.value)}};
  }
  Memory memory(AgentId agent) const override {
    Memory memory = Circulant::memory(agent);
    memory.scratch = cut().widest() * ranks() * cut().channels();
    return memory;
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const std::uint32_t half = step - ranks();
    if (step < ranks()) { return take(agent.value, lane.value, loop, step); }
    if (half >= 2 * rounds(ranks())) { return place(agent.value, lane.value, loop, half - 2 * rounds(ranks())); }
    const std::uint32_t round = half / 2;
    const Elements width = cut().width(lane.value, loop);
    Cells cells = position(lane.value, loop, 1U << round);
    cells.run = width * (1U << round);
    cells.stride = cells.run * 2;
    Primitive primitive;
    primitive.count = width * moved(ranks(), round);
    if (half % 2 == 0) {
      primitive.operands[0] = cells;
      primitive.sends = {round, 1};
    } else {
      primitive.receives = {round, 1};
      primitive.store = cells;
    }
    return primitive;
  }

  Elements message_limit() const override { return cut().widest() * most_moved(ranks()); }
  Elements shift(Buffer buffer) const override { return buffer == Buffer::scratch ? Elements::zero() : cut().shift(); }

 protected:
  std::uint32_t distance(PortId port) const override { return 1U << port.value; }

 private:
  Cells position(std::uint32_t channel, std::uint64_t loop, std::uint32_t number) const {
    return contiguous(Buffer::scratch, cut().widest() * ranks() * channel + cut().width(channel, loop) * number);
  }
  Primitive take(std::uint32_t me, std::uint32_t channel, std::uint64_t loop, std::uint32_t number) const {
    const std::uint32_t receiver = after(me, number);
    const Piece range = cut().part(receiver, channel, loop);
    Primitive primitive = over(range);
    primitive.operands[0] = contiguous(Buffer::input, cut().first(receiver) + range.first);
    primitive.store = position(channel, loop, number);
    return primitive;
  }
  Primitive place(std::uint32_t me, std::uint32_t channel, std::uint64_t loop, std::uint32_t number) const {
    const std::uint32_t sender = before(me, number);
    const Piece range = cut().part(me, channel, loop);
    Primitive primitive = over(range);
    primitive.operands[0] = position(channel, loop, number);
    primitive.store = contiguous(Buffer::output, cut().length(me) * sender + range.first);
    return primitive;
  }
};

/// Every message has full blocks, also where the payload's are short.
Cost cost(const Collective& collective) {
  const Elements full = block(collective.count, collective.ranks, 0).count;
  Cost result{rounds(collective.ranks), Elements::zero(), Elements::zero()};
  for (std::uint32_t round = 0; round < result.steps; ++round) { result.sent += full * moved(collective.ranks, round); }
  return result;
}

}  // namespace

Algorithm bruck_all_to_all() {
  return {
      .name = "bruck",
      .kind = CollectiveKind::all_to_all,
      .summary = "blocks travel by the bits of their distance, half of all in each round; for small payloads",
      .formula =
          "ceil(log2 P) alpha + n/2 log2 P beta where P is a power of two; else the blocks of round k are the numbers "
          "below P with bit k set",
      .source =
          "Bruck, Ho, Kipnis, Upfal and Weathersby, Efficient algorithms for all-to-all communications in multiport "
          "message-passing systems, 1997",
      .explanation =
          "A block for the rank j places away travels by the bits of j: round k moves all blocks with bit k set, half "
          "of all, 2^k places on. Each block is sent up to log2 P times, but only ceil(log2 P) messages are.",
      .ranks = "any number of ranks",
      .fabrics = "small payloads",
      .make_for_many = make_schedule<BruckAllToAll>,
      .granule_for_many = granule_of_blocks,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
