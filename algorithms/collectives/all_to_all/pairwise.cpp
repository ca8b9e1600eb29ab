#include "algorithms/patterns/circulant.hpp"

namespace athanor {

namespace {

/// Step 0 copies a rank's own block. Then in round s = 1 .. P-1 it sends to the rank s places after it (out-port s-1)
/// and receives from the one s places before it (in-port s-1).
class PairwiseAllToAll final : public Circulant<CutSchedule<BlockCut>> {
 public:
  PairwiseAllToAll(const Collective& collective, const Layout& layout)
      : Circulant(collective, BlockCut(collective.count, collective.ranks, slices_as_chunks(layout))) {}

  Lane lane(AgentId, LaneId lane) const override {
    return {2 * ranks() - 1, cut().loops(lane.value), ranks() - 1, ranks() - 1, ProgramId{cut().shape(lane.value)}};
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const std::uint32_t me = agent.value;
    const std::uint32_t round = (step + 1) / 2;
    const bool sends = step == 0 || step % 2 == 1;
    const bool stores = step % 2 == 0;
    const std::uint32_t destination = sends ? after(me, round) : me;
    const Piece range = cut().slice(destination, lane.value, loop, 0);
    Primitive primitive = over(range);
    if (sends) { primitive.operands[0] = contiguous(Buffer::input, cut().first(destination) + range.first); }
    if (sends && round > 0) { primitive.sends = {round - 1, 1}; }
    if (stores && round > 0) { primitive.receives = {round - 1, 1}; }
    if (stores) { primitive.store = contiguous(Buffer::output, cut().length(me) * before(me, round) + range.first); }
    return primitive;
  }

 protected:
  std::uint32_t distance(PortId port) const override { return port.value + 1; }
};

/// Every rank sends all blocks of its input but its own, of which the last is the shortest.
Cost cost(const Collective& collective) {
  const Elements last = block(collective.count, collective.ranks, collective.ranks - 1).count;
  return {collective.ranks - 1, collective.count - last, Elements::zero()};
}

}  // namespace

Algorithm pairwise_all_to_all() {
  return {
      .name = "pairwise",
      .kind = CollectiveKind::all_to_all,
      .summary = "in each round every rank sends to one other and receives from one other",
      .formula = "(P-1) alpha + (P-1)/P n beta",
      .source = "Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in MPICH, 2005",
      .explanation =
          "P-1 rounds; in round s every rank sends to the rank s places after it and receives from the one s places "
          "before, so that each sends and receives one block at a time.",
      .ranks = "any number of ranks",
      .fabrics = "large payloads",
      .make_for_many = make_schedule<PairwiseAllToAll>,
      .granule_for_many = granule_of_blocks,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
