#include <algorithm>
#include <bit>
#include <cstdint>

#include "algorithms/patterns/rank_schedule.hpp"
#include "algorithms/schedule/layout.hpp"

namespace athanor {

namespace {

/// A hypercube of ranks in ascending order, for any number of them: with 2^D + e ranks the first 2 e go in pairs of
/// neighbours, whose even rank is a corner and serves the odd one; every other rank is a corner by itself. So ranges of
/// corners are ranges of ranks. Port d of a corner leads to the corner that differs in bit d; port D to the rank that
/// it serves, whose only port is 0. Requires at least two ranks.
class PairedCube {
 public:
  explicit PairedCube(std::uint32_t ranks)
      : dimensions_(static_cast<std::uint32_t>(std::bit_width(ranks)) - 1), pairs_(ranks - (1U << dimensions_)) {}

  std::uint32_t dimensions() const { return dimensions_; }
  std::uint32_t corners() const { return 1U << dimensions_; }
  bool folds() const { return pairs_ > 0; }
  bool is_corner(std::uint32_t rank) const { return !paired(rank) || rank % 2 == 0; }
  bool serves(std::uint32_t rank) const { return paired(rank) && rank % 2 == 0; }
  /// Requires a rank that is a corner, and the inverse. The ranks of corner c begin with rank_at(c); c = corners():
  /// all.
  std::uint32_t corner(std::uint32_t rank) const { return paired(rank) ? rank / 2 : rank - pairs_; }
  std::uint32_t rank_at(std::uint32_t corner) const { return corner < pairs_ ? 2 * corner : corner + pairs_; }

  /// The ranks of the corners that agree with a corner in bit `dimension` and all above it (`own`), or that differ from
  /// it in that bit alone of these. Requires a rank that is a corner.
  struct Range {
    std::uint32_t first;
    std::uint32_t count;
  };
  Range side(std::uint32_t rank, std::uint32_t dimension, bool own) const {
    const std::uint32_t begin = (own ? corner(rank) : corner(rank) ^ (1U << dimension)) >> dimension << dimension;
    return {rank_at(begin), rank_at(begin + (1U << dimension)) - rank_at(begin)};
  }

  std::uint32_t ports(std::uint32_t rank) const { return is_corner(rank) ? dimensions_ + (serves(rank) ? 1 : 0) : 1; }
  /// Connections are the same both ways: the far end of out-port p sends to in-port p.
  Endpoint opposite(std::uint32_t rank, LaneId lane, PortId port) const {
    if (!is_corner(rank)) { return {AgentId{rank - 1}, lane, PortId{dimensions_}}; }
    if (port.value == dimensions_) { return {AgentId{rank + 1}, lane, PortId{0}}; }
    return {AgentId{rank_at(corner(rank) ^ (1U << port.value))}, lane, port};
  }

 private:
  bool paired(std::uint32_t rank) const { return rank < 2 * pairs_; }

  std::uint32_t dimensions_;
  std::uint32_t pairs_;
};

/// What reduce-scatter and all-gather along the exchanges of a paired cube share: one lane per channel. A rank that is
/// no corner has two steps; a corner has a send and a receive for each exchange, and three steps more if it serves one.
class PairedCubeBlocks : public BlockSchedule {
 public:
  PairedCubeBlocks(const Collective& collective, const Layout& layout)
      : BlockSchedule(collective, most_blocks(collective.ranks), layout), cube_(collective.ranks) {}

  /// Where pairs are, ranges are of different lengths, and no rank does what another does.
  Lane lane(AgentId agent, LaneId lane) const final {
    const std::uint32_t rank = agent.value;
    const std::uint32_t steps = !cube_.is_corner(rank) ? 2 : 2 * cube_.dimensions() + (cube_.serves(rank) ? 3 : 0);
    const std::uint32_t program = cube_.folds() ? rank : 0;
    return {steps, cut().loops(lane.value), cube_.ports(rank), cube_.ports(rank),
            ProgramId{program * cut().channels() + cut().shape(lane.value)}};
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const final { return cube_.opposite(agent.value, lane, out); }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const final { return cube_.opposite(agent.value, lane, in); }
  Elements message_limit() const final { return std::min(collective().count, cut().widest() * most_blocks(ranks())); }

 protected:
  using Range = PairedCube::Range;
  /// A channel's part of the payload in one loop.
  struct Part {
    std::uint32_t channel;
    std::uint64_t loop;
  };

  const PairedCube& cube() const { return cube_; }
  Range all() const { return {0, ranks()}; }
  Primitive over_blocks(const Range& range, const Part& part) const {
    return over(cut().elements(range.first, range.count, part.channel, part.loop));
  }
  Cells cells(Buffer buffer, const Range& range, const Part& part) const {
    return cut().cells(buffer, range.first, part.channel, part.loop);
  }
  Primitive send(Buffer buffer, const Range& range, const Part& part, std::uint32_t port) const {
    Primitive primitive = over_blocks(range, part);
    primitive.operands[0] = cells(buffer, range, part);
    primitive.sends = {port, 1};
    return primitive;
  }
  Primitive receive(Buffer buffer, const Range& range, const Part& part, std::uint32_t port) const {
    Primitive primitive = over_blocks(range, part);
    primitive.receives = {port, 1};
    primitive.store = cells(buffer, range, part);
    return primitive;
  }

 private:
  static std::uint32_t most_blocks(std::uint32_t ranks) { return PairedCube(ranks).folds() ? ranks : ranks / 2; }

  PairedCube cube_;
};

/// Exchange d swaps all blocks that two corners hold, which are those of successive ranks; then they hold twice as
/// many. A served rank gives its block at the begin and gets all at the end. Each exchange is a send and a receive.
class RecursiveDoublingAllGather final : public PairedCubeBlocks {
 public:
  using PairedCubeBlocks::PairedCubeBlocks;

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const std::uint32_t rank = agent.value;
    const Part part{lane.value, loop};
    if (!cube().is_corner(rank)) { return step == 0 ? give(rank, part) : receive(Buffer::output, all(), part, 0); }
    if (!cube().serves(rank)) { return exchange(rank, part, step); }
    const std::uint32_t port = cube().dimensions();
    if (step == 0) { return keep(rank, part); }
    if (step == 1) { return receive(Buffer::output, {rank + 1, 1}, part, port); }
    if (step == 2 + 2 * port) { return send(Buffer::output, all(), part, port); }
    return exchange(rank, part, step - 2);
  }

 private:
  Primitive keep(std::uint32_t rank, const Part& part) const {
    const ElementRange range = cut().part(rank, part.channel, part.loop);
    Primitive primitive = over(range);
    primitive.operands[0] = contiguous(Buffer::input, range.first);
    if (!collective().in_place) { primitive.store = cells(Buffer::output, {rank, 1}, part); }
    return primitive;
  }
  /// Of a served rank, which gets its own block back with all others.
  Primitive give(std::uint32_t rank, const Part& part) const {
    Primitive primitive = keep(rank, part);
    primitive.store.reset();
    primitive.sends = {0, 1};
    return primitive;
  }
  Primitive exchange(std::uint32_t rank, const Part& part, std::uint32_t step) const {
    const std::uint32_t dimension = step / 2;
    const bool sends = step % 2 == 0;
    if (step == 0 && !cube().serves(rank)) {
      Primitive primitive = keep(rank, part);
      primitive.sends = {0, 1};
      return primitive;
    }
    const Range range = cube().side(rank, dimension, sends);
    return sends ? send(Buffer::output, range, part, dimension) : receive(Buffer::output, range, part, dimension);
  }
};

/// Corner 0 serves if any does, and its blocks are the most and the fullest.
Cost cost_of_all_gather(const Collective& collective) {
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

/// Exchange d = D-1 .. 0 swaps halves of the blocks that a corner still sums up, those of successive ranks: it keeps
/// the half with its own. A served rank gives its input at the begin and gets its block at the end. The sums stand in
/// scratch at the places of the blocks. Each exchange is a send and a receive.
class RecursiveHalvingReduceScatter final : public PairedCubeBlocks {
 public:
  using PairedCubeBlocks::PairedCubeBlocks;

  Memory memory(AgentId agent) const override {
    const std::uint32_t rank = agent.value;
    const bool sums = cube().serves(rank) || (cube().is_corner(rank) && cube().dimensions() > 1);
    Memory memory = PairedCubeBlocks::memory(agent);
    if (sums) { memory.scratch = collective().count; }
    return memory;
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const std::uint32_t rank = agent.value;
    const Part part{lane.value, loop};
    if (!cube().is_corner(rank)) { return step == 0 ? send(Buffer::input, all(), part, 0) : get(rank, part, 0); }
    if (!cube().serves(rank)) { return exchange(rank, part, step); }
    const std::uint32_t port = cube().dimensions();
    if (step == 0) { return add(Buffer::input, all(), part, port); }
    if (step <= 2 * port) { return exchange(rank, part, step - 1); }
    if (step == 2 + 2 * port) { return keep(rank, part); }
    Primitive primitive = send(Buffer::scratch, {rank + 1, 1}, part, port);
    primitive.finish = true;
    return primitive;
  }

 private:
  Cells result(std::uint32_t rank, const Part& part) const {
    return contiguous(Buffer::output, cut().part(rank, part.channel, part.loop).first);
  }
  Primitive add(Buffer buffer, const Range& range, const Part& part, std::uint32_t port) const {
    Primitive primitive = receive(Buffer::scratch, range, part, port);
    primitive.operands[0] = cells(buffer, range, part);
    return primitive;
  }
  Primitive get(std::uint32_t rank, const Part& part, std::uint32_t port) const {
    Primitive primitive = over_blocks({rank, 1}, part);
    primitive.receives = {port, 1};
    primitive.store = result(rank, part);
    return primitive;
  }
  Primitive keep(std::uint32_t rank, const Part& part) const {
    Primitive primitive = over_blocks({rank, 1}, part);
    primitive.operands[0] = cells(Buffer::scratch, {rank, 1}, part);
    primitive.store = result(rank, part);
    primitive.finish = true;
    return primitive;
  }
  Primitive exchange(std::uint32_t rank, const Part& part, std::uint32_t step) const {
    const std::uint32_t dimension = cube().dimensions() - 1 - step / 2;
    const Buffer sum = step < 2 && !cube().serves(rank) ? Buffer::input : Buffer::scratch;
    const bool sends = step % 2 == 0;
    const Range range = cube().side(rank, dimension, !sends);
    if (sends) { return send(sum, range, part, dimension); }
    Primitive primitive = add(sum, range, part, dimension);
    if (dimension > 0 || cube().serves(rank)) { return primitive; }
    primitive.store = result(rank, part);
    primitive.finish = true;
    return primitive;
  }
};

/// A corner sends all but its own blocks, then that of the rank that it serves; a served rank sends everything. Corner
/// 0 serves if any does, and adds the most and the fullest blocks.
Cost cost_of_reduce_scatter(const Collective& collective) {
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
      .make_for_many = make_schedule<RecursiveDoublingAllGather>,
      .granule_for_many = granule_of_blocks,
      .cost_for_many = cost_of_all_gather,
  };
}

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
      .make_for_many = make_schedule<RecursiveHalvingReduceScatter>,
      .granule_for_many = granule_of_blocks,
      .cost_for_many = cost_of_reduce_scatter,
  };
}

}  // namespace athanor
