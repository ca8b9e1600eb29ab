#include <algorithm>

#include "algorithms/catalog.hpp"
#include "algorithms/patterns/block_ranges.hpp"
#include "algorithms/patterns/paired_cube.hpp"

namespace athanor {

namespace {

std::uint32_t most_blocks(std::uint32_t ranks) { return PairedCube(ranks).folds() ? ranks : ranks / 2; }

/// Exchange d swaps all blocks that two corners hold, which are those of successive ranks; then they hold twice as
/// many. A served rank gives its block at the begin and gets all at the end. Each exchange is a send and a receive.
class RecursiveDoublingAllGather final : public Schedule {
 public:
  RecursiveDoublingAllGather(const Collective& collective, const Layout& layout)
      : collective_(collective),
        cube_(collective.ranks),
        ranges_(collective.count, collective.ranks, layout, most_blocks(collective.ranks)) {}

  Roster roster() const override { return {collective_.ranks, collective_.ranks}; }
  std::uint32_t lanes(AgentId) const override { return ranges_.channels(); }
  Lane lane(AgentId agent, LaneId lane) const override {
    const std::uint32_t rank = agent.value;
    const std::uint32_t exchanges = 2 * cube_.dimensions();
    const std::uint32_t steps = !cube_.is_corner(rank) ? 2 : exchanges + (cube_.serves(rank) ? 3 : 0);
    const std::uint32_t program = cube_.folds() ? rank : 0;  // where pairs are, ranges are of different lengths
    return {steps, ranges_.loops(lane.value), cube_.ports(rank), cube_.ports(rank),
            ProgramId{program * ranges_.channels() + ranges_.shape(lane.value)}};
  }
  Memory memory(AgentId agent) const override {
    Memory memory{ranges_.length(agent.value), collective_.count, Elements::zero(), {}};
    if (collective_.in_place) { memory.in_place = ranges_.first(agent.value).count(); }
    return memory;
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    return cube_.opposite(agent.value, lane, out);
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    return cube_.opposite(agent.value, lane, in);
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const std::uint32_t rank = agent.value;
    const Part part{lane.value, loop};
    if (!cube_.is_corner(rank)) { return step == 0 ? give(rank, part) : receive(0, collective_.ranks, part, 0); }
    if (!cube_.serves(rank)) { return exchange(rank, part, step); }
    const std::uint32_t port = cube_.dimensions();
    if (step == 0) { return keep(rank, part); }
    if (step == 1) { return receive(rank + 1, 1, part, port); }
    if (step == 2 + 2 * port) { return send(0, collective_.ranks, part, port); }
    return exchange(rank, part, step - 2);
  }

  Elements message_limit() const override {
    return std::min(collective_.count, ranges_.widest() * most_blocks(collective_.ranks));
  }
  Elements shift(Buffer) const override { return ranges_.shift(); }
  std::uint32_t least_slots() const override { return 1; }

 private:
  struct Part {
    std::uint32_t channel;
    std::uint64_t loop;
  };

  Primitive keep(std::uint32_t rank, const Part& part) const {
    const Piece range = ranges_.part(rank, part.channel, part.loop);
    Primitive primitive;
    primitive.count = range.count;
    primitive.operands[0] = contiguous(Buffer::input, range.first);
    if (!collective_.in_place) { primitive.store = ranges_.cells(Buffer::output, rank, part.channel, part.loop); }
    return primitive;
  }
  /// Of a served rank, which gets its own block back with all others.
  Primitive give(std::uint32_t rank, const Part& part) const {
    Primitive primitive = keep(rank, part);
    primitive.store.reset();
    primitive.sends = {0, 1};
    return primitive;
  }
  Primitive send(std::uint32_t first, std::uint32_t blocks, const Part& part, std::uint32_t port) const {
    Primitive primitive;
    primitive.count = ranges_.elements(first, blocks, part.channel, part.loop);
    primitive.operands[0] = ranges_.cells(Buffer::output, first, part.channel, part.loop);
    primitive.sends = {port, 1};
    return primitive;
  }
  Primitive receive(std::uint32_t first, std::uint32_t blocks, const Part& part, std::uint32_t port) const {
    Primitive primitive;
    primitive.count = ranges_.elements(first, blocks, part.channel, part.loop);
    primitive.receives = {port, 1};
    primitive.store = ranges_.cells(Buffer::output, first, part.channel, part.loop);
    return primitive;
  }
  Primitive exchange(std::uint32_t rank, const Part& part, std::uint32_t step) const {
    const std::uint32_t dimension = step / 2;
    const bool sends = step % 2 == 0;
    if (step == 0 && !cube_.serves(rank)) {
      Primitive primitive = keep(rank, part);
      primitive.sends = {0, 1};
      return primitive;
    }
    const PairedCube::Range range = cube_.side(rank, dimension, sends);
    return sends ? send(range.first, range.count, part, dimension) : receive(range.first, range.count, part, dimension);
  }

  Collective collective_;
  PairedCube cube_;
  BlockRanges ranges_;
};

std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return std::make_unique<RecursiveDoublingAllGather>(collective, layout);
}

Elements granule(const Collective& collective, const Layout& layout) {
  return BlockRanges::granule(collective.ranks, layout);
}

/// Corner 0 serves if any does, and its blocks are the most and the fullest.
Cost cost(const Collective& collective) {
  const PairedCube cube(collective.ranks);
  const BlockRanges ranges(collective.count, collective.ranks, {}, 1);
  Cost result{cube.dimensions(), Elements::zero(), Elements::zero()};
  for (std::uint32_t dimension = 0; dimension < cube.dimensions(); ++dimension) {
    result.sent += ranges.elements(0, cube.rank_at(1U << dimension), 0, 0);
  }
  if (cube.folds()) {
    result.steps += 2;
    result.sent += collective.count;
  }
  return result;
}

}  // namespace

Algorithm recursive_doubling_all_gather() {
  return {
      .name = "recursive_doubling",
      .kind = CollectiveKind::all_gather,
      .summary = "ranks swap all blocks that they hold at doubling distances",
      .formula =
          "log2 P alpha + (P-1)/P n beta; where P = 2^k + e, e > 0: (k+2) alpha + (P + 1 + sum over j < k of (2^j + "
          "min(e, 2^j)))/P n beta where the fold has a port of its own",
      .source = "Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in MPICH, 2005",
      .explanation = "Partners at doubling distances swap all blocks that they hold, which double from step to step.",
      .ranks =
          "any number of ranks; where P is no power of two, the first ranks pair up: one of each pair gives its block "
          "and gets all at the end",
      .fabrics = "middle payloads on fabrics with full bisection; powers of two",
      .make_for_many = make,
      .granule_for_many = granule,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
