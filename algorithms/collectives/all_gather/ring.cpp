#include "algorithms/patterns/rank_schedule.hpp"
#include "algorithms/patterns/reversible.hpp"

namespace athanor {

namespace {

/// Every block goes once around the ring of its channel, from its owner to the rank before it: P calls per loop.
class RingAllGather final : public CutSchedule<BlockCut> {
 public:
  RingAllGather(const Collective& collective, const Layout& layout, Direction direction)
      : CutSchedule(collective, BlockCut(collective.count, collective.ranks, layout)),
        order_(collective.ranks, layout, direction) {}

  Lane lane(AgentId, LaneId lane) const override {
    return {ranks() * cut().slices(), cut().loops(lane.value), 1, 1, ProgramId{cut().shape(lane.value)}};
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    return {AgentId{order_.next(lane.value, agent.value)}, lane, out};
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    return {AgentId{order_.previous(lane.value, agent.value)}, lane, in};
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const std::uint32_t call = step / cut().slices();
    const std::uint32_t owner = order_.rank(lane.value, before(order_.position(lane.value, agent.value), call));
    const Piece range = cut().slice(owner, lane.value, loop, step % cut().slices());
    Primitive primitive = over(range);
    if (call == 0) { primitive.operands[0] = contiguous(Buffer::input, range.first); }
    if (call > 0) { primitive.receives = {0, 1}; }
    if (call + 1 < ranks()) { primitive.sends = {0, 1}; }
    if (call > 0 || !collective().in_place) {
      primitive.store = contiguous(Buffer::output, cut().first(owner) + range.first);
    }
    return primitive;
  }

  /// All ranks first send the slices of one block; with more than two, one more slot lets a slice move on.
  std::uint32_t least_slots() const override { return cut().slices() + (ranks() > 2 ? 1 : 0); }

 private:
  RingOrder order_;
};

std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return ring_all_gather_schedule(collective, layout, Direction::forwards);
}

/// Every rank sends all blocks but that of the next rank, of which the last is the shortest.
Cost cost(const Collective& collective) {
  const Elements last = block(collective.count, collective.ranks, collective.ranks - 1).count;
  return {collective.ranks - 1, collective.count - last, Elements::zero()};
}

}  // namespace

std::unique_ptr<const Schedule> ring_all_gather_schedule(const Collective& collective, const Layout& layout,
                                                         Direction direction) {
  return std::make_unique<RingAllGather>(collective, layout, direction);
}

Algorithm ring_all_gather() {
  return {
      .name = "ring",
      .kind = CollectiveKind::all_gather,
      .summary = "each block goes once around a ring",
      .formula = "(P-1) alpha + (P-1)/P n beta",
      .source =
          "Chan, Heimlich, Purkayastha and van de Geijn, Collective communication: theory, practice, and experience, "
          "2007",
      .explanation =
          "Each rank's block goes once around the ring: in every step a rank passes on the block that it got last.",
      .ranks = "any number of ranks",
      .fabrics = "large payloads on any fabric",
      .make_for_many = make,
      .granule_for_many = granule_of_blocks,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
