#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

namespace {

/// Per channel a rank has P lanes: lane 0 copies its own block, lane d sends to the rank d places after and then
/// receives from the one d places before. Nothing orders the lanes, so that all messages are sent at once.
class DirectAllToAll final : public BlockSchedule {
 public:
  DirectAllToAll(const Collective& collective, const Layout& layout) : BlockSchedule(collective, 1, layout) {}

  std::uint32_t lanes(AgentId) const override { return cut().channels() * ranks(); }
  Lane lane(AgentId, LaneId lane) const override {
    const std::uint32_t channel = lane.value / ranks();
    const std::uint32_t ports = lane.value % ranks() == 0 ? 0 : 1;
    return {1 + ports, cut().loops(channel), ports, ports, ProgramId{2 * cut().shape(channel) + ports}};
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    return {AgentId{after(agent.value, lane.value % ranks())}, lane, out};
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    return {AgentId{before(agent.value, lane.value % ranks())}, lane, in};
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const std::uint32_t places = lane.value % ranks();
    const std::uint32_t receiver = step == 0 ? after(agent.value, places) : agent.value;
    const std::uint32_t sender = step == 0 ? agent.value : before(agent.value, places);
    const Piece range = cut().part(receiver, lane.value / ranks(), loop);
    Primitive primitive = over(range);
    if (sender == agent.value) {
      primitive.operands[0] = contiguous(Buffer::input, cut().first(receiver) + range.first);
      primitive.sends = {0, places == 0 ? 0U : 1U};
    } else {
      primitive.receives = {0, 1};
    }
    if (receiver == agent.value) {
      primitive.store = contiguous(Buffer::output, cut().length(receiver) * sender + range.first);
    }
    return primitive;
  }

 private:
};

/// Every rank sends all blocks of its input but its own, of which the last is the shortest.
Cost cost(const Collective& collective) {
  const Elements last = block(collective.count, collective.ranks, collective.ranks - 1).count;
  return {1, collective.count - last, Elements::zero()};
}

}  // namespace

Algorithm direct_all_to_all() {
  return {
      .name = "direct",
      .kind = CollectiveKind::all_to_all,
      .summary = "all blocks are sent at once, each by a lane of its own",
      .formula = "alpha + (P-1)/P n beta",
      .source = "Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in MPICH, 2005",
      .explanation = "All blocks are sent at once, each by a lane of its own; the network sorts them out.",
      .ranks = "any number of ranks",
      .fabrics = "large payloads on fabrics that share fairly; few ranks",
      .make_for_many = make_schedule<DirectAllToAll>,
      .granule_for_many = granule_of_blocks,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
