#include "algorithms/catalog.hpp"
#include "algorithms/patterns/rank_schedule.hpp"
#include "algorithms/schedule/reversed.hpp"

namespace athanor {

namespace {

/// Every block goes once around the ring of its channel, from its owner to the rank before it: P calls per loop.
class RingAllGather final : public CutSchedule<BlockCut> {
 public:
  RingAllGather(const Collective& collective, const Layout& layout, Direction direction = Direction::forwards)
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
    const ElementRange range = cut().slice(owner, lane.value, loop, step % cut().slices());
    Primitive primitive = over(range);
    if (call == 0) { primitive.operands[0] = contiguous(Buffer::input, range.first); }
    if (call > 0) { primitive.receives = {0, 1}; }
    if (call + 1 < ranks()) { primitive.sends = {0, 1}; }
    if (call > 0 || !collective().in_place) {
      primitive.store = contiguous(Buffer::output, cut().first(owner) + range.first);
    }
    return primitive;
  }

  /// Of all calls but the first, which receives nothing, and the last, which sends nothing.
  StepRange alike(AgentId, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const std::optional<std::uint32_t> period = cut().slice_period(lane.value, loop);
    const StepRange passing{cut().slices(), (ranks() - 1) * cut().slices(), period.value_or(1)};
    const bool within = period && step >= passing.first && step < passing.end;
    return within ? passing : StepRange{step, step + 1};
  }

  /// All ranks first send the slices of one block; with more than two, one more slot lets a slice move on.
  std::uint32_t least_slots() const override { return cut().slices() + (ranks() > 2 ? 1 : 0); }

 private:
  RingOrder order_;
};

/// Every rank sends all blocks but that of the next rank, of which the last is the shortest.
Cost cost_of_all_gather(const Collective& collective) {
  const Elements last = block(collective.count, collective.ranks, collective.ranks - 1).count;
  return {collective.ranks - 1, collective.count - last, Elements::zero()};
}

/// The block of a rank starts at the rank after it and is reduced on its way around, slice after slice.
std::unique_ptr<const Schedule> make_reduce_scatter(const Collective& collective, const Layout& layout) {
  return reversed(std::make_unique<RingAllGather>(dual_of(collective), layout, Direction::backwards), collective,
                  layout.slices);
}

/// Every rank sends all blocks but its own and reduces all but the one that it starts; the last is the shortest.
Cost cost_of_reduce_scatter(const Collective& collective) {
  const Elements most = collective.count - block(collective.count, collective.ranks, collective.ranks - 1).count;
  return {collective.ranks - 1, most, most};
}

/// Chunks follow each other along the ring from the root to the rank before it.
class RingBroadcast final : public VectorSchedule {
 public:
  RingBroadcast(const Collective& collective, const Layout& layout, Direction direction = Direction::forwards)
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
    const ElementRange range = cut().piece(lane.value, loop, 0);
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

Cost cost_of_broadcast(const Collective& collective) {
  return {collective.ranks - 1, collective.count, Elements::zero()};
}

/// Chunks follow each other along the ring from the rank after the root, each rank adding its own, to the root.
std::unique_ptr<const Schedule> make_reduce(const Collective& collective, const Layout& layout) {
  return reversed(std::make_unique<RingBroadcast>(dual_of(collective), layout, Direction::backwards), collective);
}

Cost cost_of_reduce(const Collective& collective) { return {collective.ranks - 1, collective.count, collective.count}; }

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
      .make_for_many = make_schedule<RingAllGather>,
      .granule_for_many = granule_of_blocks,
      .cost_for_many = cost_of_all_gather,
  };
}

Algorithm ring_reduce_scatter() {
  Algorithm algorithm = ring_all_gather();
  algorithm.kind = CollectiveKind::reduce_scatter;
  algorithm.summary = "each block is reduced on its way around a ring to its owner";
  algorithm.formula = "(P-1) alpha + (P-1)/P n beta + (P-1)/P n gamma";
  algorithm.explanation =
      "The block of a rank starts at the rank after it and travels once around the ring; every rank adds its "
      "share, and the owner adds last.";
  algorithm.make_for_many = make_reduce_scatter;
  algorithm.cost_for_many = cost_of_reduce_scatter;
  return algorithm;
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
      .make_for_many = make_schedule<RingBroadcast>,
      .granule_for_many = granule_of_whole,
      .cost_for_many = cost_of_broadcast,
  };
}

Algorithm ring_reduce() {
  Algorithm algorithm = ring_broadcast();
  algorithm.kind = CollectiveKind::reduce;
  algorithm.summary = "chunks follow each other along a ring to the root; for large payloads";
  algorithm.formula = "(P-2+k) (alpha + n/k (beta + gamma)) in k chunks";
  algorithm.source = "NCCL, src/device/reduce.h";
  algorithm.explanation =
      "Chunks follow each other along a ring to the root, and every rank adds its own. With enough chunks every "
      "link is busy all the time.";
  algorithm.make_for_many = make_reduce;
  algorithm.cost_for_many = cost_of_reduce;
  return algorithm;
}

}  // namespace athanor
