#include <algorithm>

#include "algorithms/catalog.hpp"
#include "algorithms/patterns/block_ranges.hpp"
#include "algorithms/patterns/paired_cube.hpp"

namespace athanor {

namespace {

std::uint32_t most_blocks(std::uint32_t ranks) { return PairedCube(ranks).folds() ? ranks : ranks / 2; }

/// Exchange d = D-1 .. 0 swaps halves of the blocks that a corner still sums up, those of successive ranks: it keeps
/// the half with its own. A served rank gives its input at the begin and gets its block at the end. The sums stand in
/// scratch at the places of the blocks. Each exchange is a send and a receive.
class RecursiveHalvingReduceScatter final : public Schedule {
 public:
  RecursiveHalvingReduceScatter(const Collective& collective, const Layout& layout)
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
    const std::uint32_t rank = agent.value;
    const bool sums = cube_.serves(rank) || (cube_.is_corner(rank) && cube_.dimensions() > 1);
    Memory memory{collective_.count, ranges_.length(rank), sums ? collective_.count : Elements::zero(), {}};
    if (collective_.in_place) { memory.in_place = -ranges_.first(rank).count(); }
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
    if (!cube_.is_corner(rank)) { return step == 0 ? send(Buffer::input, all(), part, 0) : get(rank, part, 0); }
    if (!cube_.serves(rank)) { return exchange(rank, part, step); }
    const std::uint32_t port = cube_.dimensions();
    if (step == 0) { return add(Buffer::input, all(), part, port); }
    if (step <= 2 * port) { return exchange(rank, part, step - 1); }
    if (step == 2 + 2 * port) { return keep(rank, part); }
    Primitive primitive = send(Buffer::scratch, {rank + 1, 1}, part, port);
    primitive.finish = true;
    return primitive;
  }

  Elements message_limit() const override {
    return std::min(collective_.count, ranges_.widest() * most_blocks(collective_.ranks));
  }
  Elements shift(Buffer) const override { return ranges_.shift(); }
  std::uint32_t least_slots() const override { return 1; }

 private:
  using Range = PairedCube::Range;
  struct Part {
    std::uint32_t channel;
    std::uint64_t loop;
  };

  Range all() const { return {0, collective_.ranks}; }

  Primitive of(const Range& range, const Part& part) const {
    Primitive primitive;
    primitive.count = ranges_.elements(range.first, range.count, part.channel, part.loop);
    return primitive;
  }
  Cells cells(Buffer buffer, const Range& range, const Part& part) const {
    return ranges_.cells(buffer, range.first, part.channel, part.loop);
  }
  Cells result(std::uint32_t rank, const Part& part) const {
    return contiguous(Buffer::output, ranges_.part(rank, part.channel, part.loop).first);
  }

  Primitive send(Buffer buffer, const Range& range, const Part& part, std::uint32_t port) const {
    Primitive primitive = of(range, part);
    primitive.operands[0] = cells(buffer, range, part);
    primitive.sends = {port, 1};
    return primitive;
  }
  Primitive add(Buffer buffer, const Range& range, const Part& part, std::uint32_t port) const {
    Primitive primitive = of(range, part);
    primitive.operands[0] = cells(buffer, range, part);
    primitive.receives = {port, 1};
    primitive.store = cells(Buffer::scratch, range, part);
    return primitive;
  }
  Primitive get(std::uint32_t rank, const Part& part, std::uint32_t port) const {
    Primitive primitive = of({rank, 1}, part);
    primitive.receives = {port, 1};
    primitive.store = result(rank, part);
    return primitive;
  }
  Primitive keep(std::uint32_t rank, const Part& part) const {
    Primitive primitive = of({rank, 1}, part);
    primitive.operands[0] = cells(Buffer::scratch, {rank, 1}, part);
    primitive.store = result(rank, part);
    primitive.finish = true;
    return primitive;
  }
  Primitive exchange(std::uint32_t rank, const Part& part, std::uint32_t step) const {
    const std::uint32_t dimension = cube_.dimensions() - 1 - step / 2;
    const Buffer sum = step < 2 && !cube_.serves(rank) ? Buffer::input : Buffer::scratch;
    const bool sends = step % 2 == 0;
    const Range range = cube_.side(rank, dimension, !sends);
    if (sends) { return send(sum, range, part, dimension); }
    Primitive primitive = add(sum, range, part, dimension);
    if (dimension > 0 || cube_.serves(rank)) { return primitive; }
    primitive.store = result(rank, part);
    primitive.finish = true;
    return primitive;
  }

  Collective collective_;
  PairedCube cube_;
  BlockRanges ranges_;
};

std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return std::make_unique<RecursiveHalvingReduceScatter>(collective, layout);
}

Elements granule(const Collective& collective, const Layout& layout) {
  return BlockRanges::granule(collective.ranks, layout);
}

/// A corner sends all but its own blocks, then that of the rank that it serves; a served rank sends everything. Corner
/// 0 serves if any does, and adds the most and the fullest blocks.
Cost cost(const Collective& collective) {
  const PairedCube cube(collective.ranks);
  const BlockRanges ranges(collective.count, collective.ranks, {}, 1);
  const Elements last = block(collective.count, collective.ranks, collective.ranks - 1).count;
  Cost result{cube.dimensions(), collective.count - last, Elements::zero()};
  for (std::uint32_t dimension = 0; dimension < cube.dimensions(); ++dimension) {
    result.reduced += ranges.elements(0, cube.rank_at(1U << dimension), 0, 0);
  }
  if (cube.folds()) { result = {result.steps + 2, collective.count, result.reduced + collective.count}; }
  return result;
}

}  // namespace

Algorithm recursive_halving_reduce_scatter() {
  return {
      .name = "recursive_halving",
      .kind = CollectiveKind::reduce_scatter,
      .summary = "ranks swap halves of the sum at halving distances",
      .formula =
          "log2 P alpha + (P-1)/P n (beta + gamma); where P is no power of two, two steps and at most 3/2 n (beta + "
          "gamma) more where the fold has a port of its own",
      .source = "Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in MPICH, 2005",
      .explanation =
          "Partners at halving distances swap halves of the blocks that they still sum up, until each is left with its "
          "own.",
      .ranks =
          "any number of ranks; where P is no power of two, the first ranks pair up, and one of each pair works for "
          "both",
      .fabrics = "middle payloads on fabrics with full bisection; powers of two",
      .make_for_many = make,
      .granule_for_many = granule,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
