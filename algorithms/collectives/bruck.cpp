#include <algorithm>
#include <bit>

#include "algorithms/catalog.hpp"
#include "algorithms/patterns/block_ranges.hpp"
#include "algorithms/patterns/circulant.hpp"
#include "algorithms/schedule/reversed.hpp"

namespace athanor {

namespace {

std::uint32_t rounds(std::uint32_t ranks) { return static_cast<std::uint32_t>(std::bit_width(ranks - 1)); }

/// Scratch holds a rank's own block and then those of the ranks after it, without gaps. Round k appends the first 2^k
/// blocks of the rank 2^k places after, or as many as are missing; the end copies the blocks to their places, one by
/// one, so that all ranks do the same.
class BruckAllGather final : public Circulant<BlockSchedule> {
 public:
  BruckAllGather(const Collective& collective, const Layout& layout, Direction copies = Direction::forwards)
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
    const ElementRange range = cut().part(me, channel, loop);
    Primitive primitive = over(range);
    primitive.operands[0] = contiguous(Buffer::input, range.first);
    primitive.store = scratch(channel, Elements::zero());
    return primitive;
  }

  Primitive place(std::uint32_t me, std::uint32_t channel, std::uint64_t loop, std::uint32_t number) const {
    const std::uint32_t position = copies_ == Direction::forwards ? number : ranks() - 1 - number;
    const std::uint32_t owner = after(me, position);
    const ElementRange range = cut().part(owner, channel, loop);
    Primitive primitive = over(range);
    primitive.operands[0] = scratch(channel, cut().around(me, position, channel, loop));
    primitive.store = contiguous(Buffer::output, cut().first(owner) + range.first);
    return primitive;
  }

  Direction copies_;
};

/// A rank sends its first blocks again and again: rank 0 the fullest ones.
Cost cost_of_all_gather(const Collective& collective) {
  const BlockRanges ranges(collective.count, collective.ranks, {}, 1);
  Cost result{rounds(collective.ranks), Elements::zero(), Elements::zero()};
  for (std::uint32_t held = 1; held < collective.ranks; held *= 2) {
    result.sent += ranges.elements(0, std::min(held, collective.ranks - held), 0, 0);
  }
  return result;
}

/// Scratch begins with a rank's own block and holds those of the ranks after it. Round k = ceil(log2 P)-1 .. 0 gives
/// the sums of the blocks from 2^k on to the rank 2^k places after, which adds them to its first ones.
std::unique_ptr<const Schedule> make_reduce_scatter(const Collective& collective, const Layout& layout) {
  return reversed(std::make_unique<BruckAllGather>(dual_of(collective), layout, Direction::backwards), collective);
}

/// A rank sends every block but its own, of which the last is the shortest, and adds to its first ones.
Cost cost_of_reduce_scatter(const Collective& collective) {
  const BlockRanges ranges(collective.count, collective.ranks, {}, 1);
  const Elements last = block(collective.count, collective.ranks, collective.ranks - 1).count;
  Cost result{rounds(collective.ranks), collective.count - last, Elements::zero()};
  for (std::uint32_t kept = 1; kept < collective.ranks; kept *= 2) {
    result.reduced += ranges.elements(0, std::min(kept, collective.ranks - kept), 0, 0);
  }
  return result;
}

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
    const ElementRange range = cut().part(receiver, channel, loop);
    Primitive primitive = over(range);
    primitive.operands[0] = contiguous(Buffer::input, cut().first(receiver) + range.first);
    primitive.store = position(channel, loop, number);
    return primitive;
  }
  Primitive place(std::uint32_t me, std::uint32_t channel, std::uint64_t loop, std::uint32_t number) const {
    const std::uint32_t sender = before(me, number);
    const ElementRange range = cut().part(me, channel, loop);
    Primitive primitive = over(range);
    primitive.operands[0] = position(channel, loop, number);
    primitive.store = contiguous(Buffer::output, cut().length(me) * sender + range.first);
    return primitive;
  }
};

/// Every message has full blocks, also where the payload's are short.
Cost cost_of_all_to_all(const Collective& collective) {
  const Elements full = block(collective.count, collective.ranks, 0).count;
  Cost result{rounds(collective.ranks), Elements::zero(), Elements::zero()};
  for (std::uint32_t round = 0; round < result.steps; ++round) { result.sent += full * moved(collective.ranks, round); }
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
      .make_for_many = make_schedule<BruckAllGather>,
      .granule_for_many = granule_of_blocks,
      .cost_for_many = cost_of_all_gather,
  };
}

Algorithm bruck_reduce_scatter() {
  Algorithm algorithm = bruck_all_gather();
  algorithm.kind = CollectiveKind::reduce_scatter;
  algorithm.summary =
      "the blocks that a rank still sums up halve in each round, for any number of ranks; for small payloads";
  algorithm.formula = "ceil(log2 P) alpha + (P-1)/P n (beta + gamma)";
  algorithm.source = "Bruck and Ho, Efficient global combine operations in multi-port message-passing systems, 1993";
  algorithm.explanation =
      "Bruck's all-gather backwards: in each round a rank hands half of the blocks that it still sums up to the "
      "rank 2^k places after it, and adds the half that it gets.";
  algorithm.make_for_many = make_reduce_scatter;
  algorithm.cost_for_many = cost_of_reduce_scatter;
  return algorithm;
}

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
      .cost_for_many = cost_of_all_to_all,
  };
}

}  // namespace athanor
