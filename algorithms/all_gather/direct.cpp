#include "algorithms/catalog.hpp"
#include "algorithms/patterns/block_ranges.hpp"

namespace athanor {

namespace {

/// Per channel a rank has P lanes. Lane 0 sends its block to all others at once, out-port d-1 to the rank d places
/// after; lane d gets the block of the rank d places before.
class DirectAllGather final : public Schedule {
 public:
  DirectAllGather(const Collective& collective, const Layout& layout)
      : collective_(collective), ranges_(collective.count, collective.ranks, layout, 1) {}

  Roster roster() const override { return {ranks(), ranks()}; }
  std::uint32_t lanes(AgentId) const override { return ranges_.channels() * ranks(); }
  Lane lane(AgentId, LaneId lane) const override {
    const std::uint32_t channel = lane.value / ranks();
    const bool sends = lane.value % ranks() == 0;
    return {1, ranges_.loops(channel), sends ? 0 : 1U, sends ? ranks() - 1 : 0,
            ProgramId{2 * ranges_.shape(channel) + (sends ? 0 : 1)}};
  }
  Memory memory(AgentId agent) const override {
    Memory memory{ranges_.length(agent.value), collective_.count, Elements::zero(), {}};
    if (collective_.in_place) { memory.in_place = ranges_.first(agent.value).count(); }
    return memory;
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    return {AgentId{after(agent.value, out.value + 1)}, LaneId{lane.value + out.value + 1}, PortId{0}};
  }
  Endpoint source(AgentId agent, LaneId lane, PortId) const override {
    const std::uint32_t places = lane.value % ranks();
    return {AgentId{after(agent.value, ranks() - places)}, LaneId{lane.value - places}, PortId{places - 1}};
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t) const override {
    const std::uint32_t channel = lane.value / ranks();
    const std::uint32_t places = lane.value % ranks();
    const std::uint32_t owner = after(agent.value, ranks() - places);
    const Piece range = ranges_.part(owner, channel, loop);
    Primitive primitive;
    primitive.count = range.count;
    if (places == 0) {
      primitive.operands[0] = contiguous(Buffer::input, range.first);
      primitive.sends = {0, ranks() - 1};
    } else {
      primitive.receives = {0, 1};
    }
    if (places > 0 || !collective_.in_place) {
      primitive.store = contiguous(Buffer::output, ranges_.first(owner) + range.first);
    }
    return primitive;
  }

  Elements message_limit() const override { return ranges_.widest(); }
  Elements shift(Buffer) const override { return ranges_.shift(); }
  std::uint32_t least_slots() const override { return 1; }

 private:
  std::uint32_t ranks() const { return collective_.ranks; }
  std::uint32_t after(std::uint32_t rank, std::uint32_t places) const {
    return static_cast<std::uint32_t>((std::uint64_t{rank} + places) % ranks());
  }

  Collective collective_;
  BlockRanges ranges_;
};

std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return std::make_unique<DirectAllGather>(collective, layout);
}

Elements granule(const Collective& collective, const Layout& layout) {
  return BlockRanges::granule(collective.ranks, layout);
}

Cost cost(const Collective& collective) {
  return {1, block(collective.count, collective.ranks, 0).count * (collective.ranks - 1), Elements::zero()};
}

}  // namespace

Algorithm direct_all_gather() {
  return {
      .name = "direct",
      .kind = CollectiveKind::all_gather,
      .summary = "every rank sends its block to all others at once; for few ranks in reach of each other",
      .formula = "alpha + (P-1)/P n beta",
      .source =
          "Chan, Heimlich, Purkayastha and van de Geijn, Collective communication: theory, practice, and experience, "
          "2007",
      .explanation = "Every rank sends its block to all others at once.",
      .ranks = "any number of ranks",
      .fabrics = "few ranks in reach of each other, inside a node",
      .make_for_many = make,
      .granule_for_many = granule,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
