#include "algorithms/catalog.hpp"
#include "algorithms/patterns/ring_lanes.hpp"

namespace athanor {

namespace {

/// A chunk starts at the rank after its owner, is reduced on its way around to the owner, which finishes it, and goes
/// around once more to be stored: 2P - 1 calls per loop, in each of which every rank handles one chunk.
class RingAllReduce final : public RingLanes {
 public:
  RingAllReduce(const Collective& collective, const Layout& layout)
      : RingLanes(collective, layout), cut_(collective.count, collective.ranks, layout) {}

  std::uint32_t lanes(AgentId) const override { return cut_.channels(); }
  Lane lane(AgentId, LaneId lane) const override {
    return {(2 * ranks() - 1) * cut_.slices(), cut_.loops(lane.value), 1, 1, ProgramId{cut_.shape(lane.value)}};
  }
  Memory memory(AgentId) const override {
    return {collective().count, collective().count, Elements::zero(),
            collective().in_place ? std::optional<std::int64_t>{0} : std::nullopt};
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const std::uint32_t call = step / cut_.slices();
    const std::uint32_t chunk = before(position(agent, lane), call + 1);
    const Piece range = cut_.slice(lane.value, loop, chunk, step % cut_.slices());
    Primitive primitive;
    primitive.count = range.count;
    if (call > 0) { primitive.receives = {0, 1}; }
    if (call < 2 * ranks() - 2) { primitive.sends = {0, 1}; }
    if (call < ranks()) { primitive.operands[0] = contiguous(Buffer::input, range.first); }
    if (call + 1 >= ranks()) { primitive.store = contiguous(Buffer::output, range.first); }
    primitive.finish = call + 1 == ranks();
    return primitive;
  }

  Elements message_limit() const override { return cut_.message_limit(); }
  Elements shift(Buffer) const override { return cut_.shift(); }
  /// All ranks first send the slices of one chunk; one more slot lets a slice move on.
  std::uint32_t least_slots() const override { return cut_.slices() + 1; }

 private:
  VectorCut cut_;
};

std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return std::make_unique<RingAllReduce>(collective, layout);
}

Elements granule(const Collective& collective, const Layout& layout) {
  return VectorCut::granule(collective.ranks, layout);
}

/// Every rank sends all chunks twice but for its own and the next, which it sends once; the last two are the shortest.
Cost cost(const Collective& collective) {
  const std::uint32_t ranks = collective.ranks;
  const Elements last = block(collective.count, ranks, ranks - 1).count;
  const Elements last_but_one = block(collective.count, ranks, ranks - 2).count;
  return {2 * (ranks - 1), collective.count * 2 - last - last_but_one, collective.count - last};
}

}  // namespace

Algorithm ring_all_reduce() {
  return {"ring",
          CollectiveKind::all_reduce,
          "reduced around a ring, then passed around once more; least traffic without an engine",
          Engine::none,
          "2(P-1) alpha + 2 (P-1)/P n beta + (P-1)/P n gamma",
          "Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, 2009",
          make,
          granule,
          cost};
}

}  // namespace athanor
