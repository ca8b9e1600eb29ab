#include "algorithms/catalog.hpp"
#include "algorithms/patterns/ring_lanes.hpp"

namespace athanor {

namespace {

/// Every block goes once around the ring, from its owner to the rank before it: P calls per loop.
class RingAllGather final : public RingLanes {
 public:
  RingAllGather(const Collective& collective, const Layout& layout)
      : RingLanes(collective, layout), cut_(collective.count, collective.ranks, layout) {}

  std::uint32_t lanes(AgentId) const override { return cut_.channels(); }
  Lane lane(AgentId, LaneId lane) const override {
    return {ranks() * cut_.slices(), cut_.loops(lane.value), 1, 1, ProgramId{cut_.shape(lane.value)}};
  }
  Memory memory(AgentId agent) const override {
    Memory memory{cut_.length(agent.value), collective().count, Elements::zero(), std::nullopt};
    if (collective().in_place) { memory.in_place = cut_.first(agent.value).count(); }
    return memory;
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const std::uint32_t call = step / cut_.slices();
    const std::uint32_t owner = rank_at(lane, before(position(agent, lane), call));
    const Piece range = cut_.slice(owner, lane.value, loop, step % cut_.slices());
    Primitive primitive;
    primitive.count = range.count;
    if (call == 0) { primitive.operands[0] = contiguous(Buffer::input, range.first); }
    if (call > 0) { primitive.receives = {0, 1}; }
    if (call + 1 < ranks()) { primitive.sends = {0, 1}; }
    if (call > 0 || !collective().in_place) {
      primitive.store = contiguous(Buffer::output, cut_.first(owner) + range.first);
    }
    return primitive;
  }

  Elements message_limit() const override { return cut_.message_limit(); }
  Elements shift(Buffer) const override { return cut_.shift(); }
  /// All ranks first send the slices of one block; with more than two, one more slot lets a slice move on.
  std::uint32_t least_slots() const override { return cut_.slices() + (ranks() > 2 ? 1 : 0); }

 private:
  BlockCut cut_;
};

std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return std::make_unique<RingAllGather>(collective, layout);
}

Elements granule(const Collective& collective, const Layout& layout) {
  return BlockCut::granule(collective.ranks, layout);
}

/// Every rank sends all blocks but that of the next rank, of which the last is the shortest.
Cost cost(const Collective& collective) {
  const Elements last = block(collective.count, collective.ranks, collective.ranks - 1).count;
  return {collective.ranks - 1, collective.count - last, Elements::zero()};
}

}  // namespace

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
      .granule_for_many = granule,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
