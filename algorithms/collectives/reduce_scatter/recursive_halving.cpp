#include "algorithms/patterns/paired_cube.hpp"

namespace athanor {

namespace {

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
      .make_for_many = make_schedule<RecursiveHalvingReduceScatter>,
      .granule_for_many = granule_of_blocks,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
