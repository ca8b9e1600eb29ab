#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

namespace {

/// The root sends to the rank after it; nobody else has a lane.
class DirectSendReceive final : public VectorSchedule {
 public:
  DirectSendReceive(const Collective& collective, const Layout& layout)
      : VectorSchedule(collective, 1, slices_as_chunks(layout)) {}

  std::uint32_t lanes(AgentId agent) const override {
    return agent.value == sender() || agent.value == receiver() ? cut().channels() : 0;
  }
  Lane lane(AgentId agent, LaneId lane) const override {
    const std::uint32_t receives = agent.value == receiver() ? 1 : 0;
    return {1, cut().loops(lane.value), receives, 1 - receives, ProgramId{2 * cut().shape(lane.value) + receives}};
  }
  Endpoint target(AgentId, LaneId lane, PortId out) const override { return {AgentId{receiver()}, lane, out}; }
  Endpoint source(AgentId, LaneId lane, PortId in) const override { return {AgentId{sender()}, lane, in}; }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t) const override {
    const Piece range = cut().piece(lane.value, loop, 0);
    Primitive primitive = over(range);
    if (agent.value == sender()) {
      primitive.operands[0] = contiguous(Buffer::input, range.first);
      primitive.sends = {0, 1};
    } else {
      primitive.receives = {0, 1};
      primitive.store = contiguous(Buffer::output, range.first);
    }
    return primitive;
  }

 private:
  std::uint32_t sender() const { return collective().root; }
  std::uint32_t receiver() const { return after(sender(), 1); }
};

Cost cost(const Collective& collective) { return {1, collective.count, Elements::zero()}; }

}  // namespace

Algorithm direct_send_receive() {
  return {
      .name = "direct",
      .kind = CollectiveKind::send_receive,
      .summary = "one rank sends to the next",
      .formula = "alpha + n beta",
      .source = "Hockney, The communication challenge for MPP: Intel Paragon and Meiko CS-2, 1994",
      .explanation = "The root sends its message to the rank after it.",
      .ranks = "any number of ranks; two take part",
      .fabrics = "any",
      .make_for_many = make_schedule<DirectSendReceive>,
      .granule_for_many = granule_of_whole,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
