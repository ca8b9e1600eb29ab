#include "algorithms/catalog.hpp"
#include "algorithms/layout.hpp"

namespace athanor {

namespace {

/// The root sends to the rank after it; nobody else has a lane.
class DirectSendReceive final : public Schedule {
 public:
  DirectSendReceive(const Collective& collective, const Layout& layout)
      : collective_(collective), cut_(collective.count, 1, slices_as_chunks(layout)) {}

  Roster roster() const override { return {collective_.ranks, collective_.ranks}; }
  std::uint32_t lanes(AgentId agent) const override {
    return agent.value == sender() || agent.value == receiver() ? cut_.channels() : 0;
  }
  Lane lane(AgentId agent, LaneId lane) const override {
    const std::uint32_t receives = agent.value == receiver() ? 1 : 0;
    return {1, cut_.loops(lane.value), receives, 1 - receives, ProgramId{2 * cut_.shape(lane.value) + receives}};
  }
  Memory memory(AgentId agent) const override {
    return {agent.value == sender() ? collective_.count : Elements::zero(),
            agent.value == receiver() ? collective_.count : Elements::zero(), Elements::zero(), std::nullopt};
  }
  Endpoint target(AgentId, LaneId lane, PortId out) const override { return {AgentId{receiver()}, lane, out}; }
  Endpoint source(AgentId, LaneId lane, PortId in) const override { return {AgentId{sender()}, lane, in}; }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t) const override {
    const Piece range = cut_.piece(lane.value, loop, 0);
    Primitive primitive;
    primitive.count = range.count;
    if (agent.value == sender()) {
      primitive.operands[0] = contiguous(Buffer::input, range.first);
      primitive.sends = {0, 1};
    } else {
      primitive.receives = {0, 1};
      primitive.store = contiguous(Buffer::output, range.first);
    }
    return primitive;
  }

  Elements message_limit() const override { return cut_.message_limit(); }
  Elements shift(Buffer) const override { return cut_.shift(); }
  std::uint32_t least_slots() const override { return 1; }

 private:
  std::uint32_t sender() const { return collective_.root; }
  std::uint32_t receiver() const { return (collective_.root + 1) % collective_.ranks; }

  Collective collective_;
  VectorCut cut_;
};

std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return std::make_unique<DirectSendReceive>(collective, layout);
}

Elements granule(const Collective&, const Layout& layout) { return VectorCut::granule(1, layout); }

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
      .make_for_many = make,
      .granule_for_many = granule,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
