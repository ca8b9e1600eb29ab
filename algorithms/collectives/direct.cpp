#include "algorithms/catalog.hpp"
#include "algorithms/patterns/rank_schedule.hpp"
#include "algorithms/schedule/reversed.hpp"

namespace athanor {

namespace {

/// Per channel a rank has P lanes. Lane 0 sends its block to all others at once, out-port d-1 to the rank d places
/// after; lane d gets the block of the rank d places before. Backwards, these are the rank before and the rank after.
class DirectAllGather final : public BlockSchedule {
 public:
  DirectAllGather(const Collective& collective, const Layout& layout, Direction direction = Direction::forwards)
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
    const ElementRange range = cut().part(owner, lane.value / ranks(), loop);
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

Cost cost_of_all_gather(const Collective& collective) {
  return {1, block(collective.count, collective.ranks, 0).count * (collective.ranks - 1), Elements::zero()};
}

/// Per channel a rank has P lanes. Lane d sends the block of the rank d places after; lane 0 adds what all others sent
/// to its own, in-port d-1 from the rank d places before.
std::unique_ptr<const Schedule> make_reduce_scatter(const Collective& collective, const Layout& layout) {
  return reversed(std::make_unique<DirectAllGather>(dual_of(collective), layout, Direction::backwards), collective);
}

/// Every rank sends all blocks but its own, of which the last is the shortest.
Cost cost_of_reduce_scatter(const Collective& collective) {
  const Elements last = block(collective.count, collective.ranks, collective.ranks - 1).count;
  return {1, collective.count - last, block(collective.count, collective.ranks, 0).count * (collective.ranks - 1)};
}

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
    const ElementRange range = cut().piece(lane.value, loop, 0);
    return agent.value == sender() ? sending(range, Buffer::input, 0) : receiving(range, Buffer::output, 0);
  }

 private:
  std::uint32_t sender() const { return collective().root; }
  std::uint32_t receiver() const { return after(sender(), 1); }
};

Cost cost_of_send_receive(const Collective& collective) { return {1, collective.count, Elements::zero()}; }

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
      .make_for_many = make_schedule<DirectAllGather>,
      .granule_for_many = granule_of_blocks,
      .cost_for_many = cost_of_all_gather,
  };
}

Algorithm direct_reduce_scatter() {
  Algorithm algorithm = direct_all_gather();
  algorithm.kind = CollectiveKind::reduce_scatter;
  algorithm.summary = "every rank sends each block to its owner at once; for few ranks in reach of each other";
  algorithm.formula = "alpha + (P-1)/P n (beta + gamma)";
  algorithm.explanation = "Every rank sends each block to its owner at once; the owner adds up P-1 shares.";
  algorithm.make_for_many = make_reduce_scatter;
  algorithm.cost_for_many = cost_of_reduce_scatter;
  return algorithm;
}

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
      .cost_for_many = cost_of_send_receive,
  };
}

}  // namespace athanor
