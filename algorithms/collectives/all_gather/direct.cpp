#include "algorithms/patterns/rank_schedule.hpp"
#include "algorithms/patterns/reversible.hpp"

namespace athanor {

namespace {

/// Per channel a rank has P lanes. Lane 0 sends its block to all others at once, out-port d-1 to the rank d places
/// after; lane d gets the block of the rank d places before. Backwards, these are the rank before and the rank after.
class DirectAllGather final : public BlockSchedule {
 public:
  DirectAllGather(const Collective& collective, const Layout& layout, Direction direction)
      : BlockSchedule(collective, 1, layout), backwards_(direction == Direction::backwards) {}

  std::uint32_t lanes(AgentId) const override { return cut().channels() * ranks(); }
  Lane lane(AgentId, LaneId lane) const override {
    const std::uint32_t channel = lane.value / ranks();
    const bool sends = lane.value % ranks() == 0;
    return {1, cut().loops(channel), sends ? 0 : 1U, sends ? ranks() - 1 : 0,
            ProgramId{2 * cut().shape(channel) + (sends ? 0 : 1)}};
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    const std::uint32_t places = out.value + 1;
    return {AgentId{moved(agent, places, !backwards_)}, LaneId{lane.value + places}, PortId{0}};
  }
  Endpoint source(AgentId agent, LaneId lane, PortId) const override {
    const std::uint32_t places = lane.value % ranks();
    return {AgentId{moved(agent, places, backwards_)}, LaneId{lane.value - places}, PortId{places - 1}};
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t) const override {
    const std::uint32_t places = lane.value % ranks();
    const std::uint32_t owner = moved(agent, places, backwards_);
    const Piece range = cut().part(owner, lane.value / ranks(), loop);
    Primitive primitive = over(range);
    if (places == 0) {
      primitive.operands[0] = contiguous(Buffer::input, range.first);
      primitive.sends = {0, ranks() - 1};
    } else {
      primitive.receives = {0, 1};
    }
    if (places > 0 || !collective().in_place) {
      primitive.store = contiguous(Buffer::output, cut().first(owner) + range.first);
    }
    return primitive;
  }

 private:
  std::uint32_t moved(AgentId agent, std::uint32_t places, bool forwards) const {
    return forwards ? after(agent.value, places) : before(agent.value, places);
  }

  bool backwards_;
};

std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return direct_all_gather_schedule(collective, layout, Direction::forwards);
}

Cost cost(const Collective& collective) {
  return {1, block(collective.count, collective.ranks, 0).count * (collective.ranks - 1), Elements::zero()};
}

}  // namespace

std::unique_ptr<const Schedule> direct_all_gather_schedule(const Collective& collective, const Layout& layout,
                                                           Direction direction) {
  return std::make_unique<DirectAllGather>(collective, layout, direction);
}

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
      .granule_for_many = granule_of_blocks,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
