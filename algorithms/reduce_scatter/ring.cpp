#include "algorithms/catalog.hpp"
#include "algorithms/patterns/ring_lanes.hpp"

namespace athanor {

namespace {

/// The block of a rank starts at the rank after it in the ring and is reduced on its way around: P calls per loop.
class RingReduceScatter final : public RingLanes {
 public:
  RingReduceScatter(const Collective& collective, const Layout& layout)
      : RingLanes(collective, layout), cut_(collective.count, collective.ranks, layout) {}

  std::uint32_t lanes(AgentId) const override { return cut_.channels(); }
  Lane lane(AgentId, LaneId lane) const override {
    return {ranks() * cut_.slices(), cut_.loops(lane.value), 1, 1, ProgramId{cut_.shape(lane.value)}};
  }
  Memory memory(AgentId agent) const override {
    Memory memory{collective().count, cut_.length(agent.value), Elements::zero(), std::nullopt};
    if (collective().in_place) { memory.in_place = -cut_.first(agent.value).count(); }
    return memory;
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const std::uint32_t call = step / cut_.slices();
    const std::uint32_t owner = rank_at(lane, before(position(agent, lane), call + 1));
    const Piece range = cut_.slice(owner, lane.value, loop, step % cut_.slices());
    const bool last = call + 1 == ranks();
    Primitive primitive;
    primitive.count = range.count;
    primitive.operands[0] = contiguous(Buffer::input, cut_.first(owner) + range.first);
    if (call > 0) { primitive.receives = {0, 1}; }
    if (!last) { primitive.sends = {0, 1}; }
    if (last) { primitive.store = contiguous(Buffer::output, range.first); }
    primitive.finish = last;
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
  return std::make_unique<RingReduceScatter>(collective, layout);
}

Elements granule(const Collective& collective, const Layout& layout) {
  return BlockCut::granule(collective.ranks, layout);
}

/// Every rank sends all blocks but its own and reduces all but the one that it starts; the last is the shortest.
Cost cost(const Collective& collective) {
  const Elements most = collective.count - block(collective.count, collective.ranks, collective.ranks - 1).count;
  return {collective.ranks - 1, most, most};
}

}  // namespace

Algorithm ring_reduce_scatter() {
  return {
      .name = "ring",
      .kind = CollectiveKind::reduce_scatter,
      .summary = "each block is reduced on its way around a ring to its owner",
      .formula = "(P-1) alpha + (P-1)/P n beta + (P-1)/P n gamma",
      .source =
          "Chan, Heimlich, Purkayastha and van de Geijn, Collective communication: theory, practice, and experience, "
          "2007",
      .explanation =
          "The block of a rank starts at the rank after it and travels once around the ring; every rank adds its "
          "share, and the owner adds last.",
      .ranks = "any number of ranks",
      .fabrics = "large payloads on any fabric",
      .make_for_many = make,
      .granule_for_many = granule,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
