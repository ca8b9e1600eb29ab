#include "algorithms/patterns/paired_cube.hpp"

namespace athanor {

namespace {

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
    const Piece range = cut().part(rank, part.channel, part.loop);
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
      .make_for_many = make_schedule<RecursiveDoublingAllGather>,
      .granule_for_many = granule_of_blocks,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
