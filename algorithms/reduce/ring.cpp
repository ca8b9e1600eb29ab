#include "algorithms/catalog.hpp"
#include "algorithms/layout.hpp"

namespace athanor {

namespace {

/// Chunks follow each other along the ring from the rank after the root, each rank adding its own, to the root.
class RingReduce final : public Schedule {
 public:
  RingReduce(const Collective& collective, const Layout& layout)
      : collective_(collective),
        order_(collective.ranks, layout),
        cut_(collective.count, 1, slices_as_chunks(layout)) {}

  Roster roster() const override { return {collective_.ranks, collective_.ranks}; }
  std::uint32_t lanes(AgentId) const override { return cut_.channels(); }
  Lane lane(AgentId agent, LaneId lane) const override {
    const bool first = distance(agent, lane) == 0;
    const bool last = is_root(agent);
    const std::uint32_t role = first ? 0 : last ? 2 : 1;
    return {1, cut_.loops(lane.value), first ? 0U : 1U, last ? 0U : 1U, ProgramId{3 * cut_.shape(lane.value) + role}};
  }
  Memory memory(AgentId agent) const override {
    if (!is_root(agent)) { return {collective_.count, Elements::zero(), Elements::zero(), {}}; }
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
    Primitive primitive;
    primitive.count = range.count;
    primitive.operands[0] = contiguous(Buffer::input, range.first);
    if (distance(agent, lane) > 0) { primitive.receives = {0, 1}; }
    if (!is_root(agent)) { primitive.sends = {0, 1}; }
    if (is_root(agent)) { primitive.store = contiguous(Buffer::output, range.first); }
    primitive.finish = is_root(agent);
    return primitive;
  }

  Elements message_limit() const override { return cut_.message_limit(); }
  Elements shift(Buffer) const override { return cut_.shift(); }
  std::uint32_t least_slots() const override { return 1; }

 private:
  bool is_root(AgentId agent) const { return agent.value == collective_.root; }
  /// Hops from the rank after the root.
  std::uint32_t distance(AgentId agent, LaneId lane) const {
    const std::uint32_t root = order_.position(lane.value, collective_.root);
    return (order_.position(lane.value, agent.value) + collective_.ranks - root - 1) % collective_.ranks;
  }

  Collective collective_;
  RingOrder order_;
  VectorCut cut_;
};

std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return std::make_unique<RingReduce>(collective, layout);
}

Elements granule(const Collective&, const Layout& layout) { return VectorCut::granule(1, layout); }

Cost cost(const Collective& collective) { return {collective.ranks - 1, collective.count, collective.count}; }

}  // namespace

Algorithm ring_reduce() {
  return {
      .name = "ring",
      .kind = CollectiveKind::reduce,
      .summary = "chunks follow each other along a ring to the root; for large payloads",
      .formula = "(P-2+k) (alpha + n/k (beta + gamma)) in k chunks",
      .source = "NCCL, src/device/reduce.h",
      .explanation =
          "Chunks follow each other along a ring to the root, and every rank adds its own. With enough chunks every "
          "link is busy all the time.",
      .ranks = "any number of ranks",
      .fabrics = "large payloads on any fabric; needs many chunks",
      .pipelines = true,
      .make_for_many = make,
      .granule_for_many = granule,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
