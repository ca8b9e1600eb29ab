#include "algorithms/catalog.hpp"
#include "algorithms/layout.hpp"

namespace athanor {

namespace {

/// Chunks follow each other along the ring from the root to the rank before it.
class RingBroadcast final : public Schedule {
 public:
  RingBroadcast(const Collective& collective, const Layout& layout)
      : collective_(collective),
        order_(collective.ranks, layout),
        cut_(collective.count, 1, slices_as_chunks(layout)) {}

  Roster roster() const override { return {collective_.ranks, collective_.ranks}; }
  std::uint32_t lanes(AgentId) const override { return cut_.channels(); }
  Lane lane(AgentId agent, LaneId lane) const override {
    const bool first = distance(agent, lane) == 0;
    const bool last = distance(agent, lane) + 1 == collective_.ranks;
    const std::uint32_t role = first ? 0 : last ? 2 : 1;
    return {1, cut_.loops(lane.value), first ? 0U : 1U, last ? 0U : 1U, ProgramId{3 * cut_.shape(lane.value) + role}};
  }
  Memory memory(AgentId agent) const override {
    if (agent.value != collective_.root) { return {Elements::zero(), collective_.count, Elements::zero(), {}}; }
    return {collective_.count, collective_.count, Elements::zero(),
            collective_.in_place ? std::optional<std::int64_t>{0} : std::nullopt};
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    return {AgentId{order_.next(lane.value, agent.value)}, lane, out};
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    return {AgentId{order_.previous(lane.value, agent.value)}, lane, in};
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t) const override {
    const Piece range = cut_.piece(lane.value, loop, 0);
    const bool first = distance(agent, lane) == 0;
    Primitive primitive;
    primitive.count = range.count;
    if (first) { primitive.operands[0] = contiguous(Buffer::input, range.first); }
    if (!first) { primitive.receives = {0, 1}; }
    if (distance(agent, lane) + 1 < collective_.ranks) { primitive.sends = {0, 1}; }
    if (!first || !collective_.in_place) { primitive.store = contiguous(Buffer::output, range.first); }
    return primitive;
  }

  Elements message_limit() const override { return cut_.message_limit(); }
  Elements shift(Buffer) const override { return cut_.shift(); }
  std::uint32_t least_slots() const override { return 1; }

 private:
  /// Hops from the root.
  std::uint32_t distance(AgentId agent, LaneId lane) const {
    const std::uint32_t root = order_.position(lane.value, collective_.root);
    return (order_.position(lane.value, agent.value) + collective_.ranks - root) % collective_.ranks;
  }

  Collective collective_;
  RingOrder order_;
  VectorCut cut_;
};

std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return std::make_unique<RingBroadcast>(collective, layout);
}

Elements granule(const Collective&, const Layout& layout) { return VectorCut::granule(1, layout); }

Cost cost(const Collective& collective) { return {collective.ranks - 1, collective.count, Elements::zero()}; }

}  // namespace

Algorithm ring_broadcast() {
  return {
      .name = "ring",
      .kind = CollectiveKind::broadcast,
      .summary = "chunks follow each other along a ring from the root; for large payloads",
      .formula = "(P-2+k) (alpha + n/k beta) in k chunks",
      .source = "NCCL, src/device/broadcast.h",
      .explanation =
          "Chunks follow each other along a ring from the root to the rank before it; a rank passes a chunk on while "
          "it gets the next. With enough chunks every link is busy all the time.",
      .ranks = "any number of ranks",
      .fabrics = "large payloads on any fabric; needs many chunks",
      .pipelines = true,
      .make_for_many = make,
      .granule_for_many = granule,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
