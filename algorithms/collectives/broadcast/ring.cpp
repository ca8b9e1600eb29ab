#include "algorithms/patterns/rank_schedule.hpp"
#include "algorithms/patterns/reversible.hpp"

namespace athanor {

namespace {

/// Chunks follow each other along the ring from the root to the rank before it.
class RingBroadcast final : public VectorSchedule {
 public:
  RingBroadcast(const Collective& collective, const Layout& layout, Direction direction)
      : VectorSchedule(collective, 1, slices_as_chunks(layout)), order_(collective.ranks, layout, direction) {}

  Lane lane(AgentId agent, LaneId lane) const override {
    const bool last = distance(agent, lane) + 1 == ranks();
    const std::uint32_t role = is_root(agent) ? 0 : last ? 2 : 1;
    return {1, cut().loops(lane.value), is_root(agent) ? 0U : 1U, last ? 0U : 1U,
            ProgramId{3 * cut().shape(lane.value) + role}};
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    return {AgentId{order_.next(lane.value, agent.value)}, lane, out};
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    return {AgentId{order_.previous(lane.value, agent.value)}, lane, in};
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t) const override {
    const Piece range = cut().piece(lane.value, loop, 0);
    Primitive primitive = over(range);
    if (is_root(agent)) { primitive.operands[0] = contiguous(Buffer::input, range.first); }
    if (!is_root(agent)) { primitive.receives = {0, 1}; }
    if (distance(agent, lane) + 1 < ranks()) { primitive.sends = {0, 1}; }
    if (!is_root(agent) || !collective().in_place) { primitive.store = contiguous(Buffer::output, range.first); }
    return primitive;
  }

 private:
  /// Hops from the root.
  std::uint32_t distance(AgentId agent, LaneId lane) const {
    return before(order_.position(lane.value, agent.value), order_.position(lane.value, collective().root));
  }

  RingOrder order_;
};

std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return ring_broadcast_schedule(collective, layout, Direction::forwards);
}

Cost cost(const Collective& collective) { return {collective.ranks - 1, collective.count, Elements::zero()}; }

}  // namespace

std::unique_ptr<const Schedule> ring_broadcast_schedule(const Collective& collective, const Layout& layout,
                                                        Direction direction) {
  return std::make_unique<RingBroadcast>(collective, layout, direction);
}

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
      .granule_for_many = granule_of_whole,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
