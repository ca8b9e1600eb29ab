#include "algorithms/catalog.hpp"
#include "algorithms/patterns/block_ranges.hpp"

namespace athanor {

namespace {

/// Per channel a rank has P lanes: lane 0 copies its own block, lane d sends to the rank d places after and then
/// receives from the one d places before. Nothing orders the lanes, so that all messages are sent at once.
class DirectAllToAll final : public Schedule {
 public:
  DirectAllToAll(const Collective& collective, const Layout& layout)
      : collective_(collective), ranges_(collective.count, collective.ranks, layout, 1) {}

  Roster roster() const override { return {ranks(), ranks()}; }
  std::uint32_t lanes(AgentId) const override { return ranges_.channels() * ranks(); }
  Lane lane(AgentId, LaneId lane) const override {
    const std::uint32_t channel = lane.value / ranks();
    const std::uint32_t ports = lane.value % ranks() == 0 ? 0 : 1;
    return {1 + ports, ranges_.loops(channel), ports, ports, ProgramId{2 * ranges_.shape(channel) + ports}};
  }
  Memory memory(AgentId agent) const override {
    return {collective_.count, ranges_.length(agent.value) * ranks(), Elements::zero(), {}};
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    return {AgentId{after(agent.value, lane.value % ranks())}, lane, out};
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    return {AgentId{after(agent.value, ranks() - lane.value % ranks())}, lane, in};
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const std::uint32_t places = lane.value % ranks();
    const std::uint32_t receiver = step == 0 ? after(agent.value, places) : agent.value;
    const std::uint32_t sender = step == 0 ? agent.value : after(agent.value, ranks() - places);
    const Piece range = ranges_.part(receiver, lane.value / ranks(), loop);
    Primitive primitive;
    primitive.count = range.count;
    if (sender == agent.value) {
      primitive.operands[0] = contiguous(Buffer::input, ranges_.first(receiver) + range.first);
      primitive.sends = {0, places == 0 ? 0U : 1U};
    } else {
      primitive.receives = {0, 1};
    }
    if (receiver == agent.value) {
      primitive.store = contiguous(Buffer::output, ranges_.length(receiver) * sender + range.first);
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
  return std::make_unique<DirectAllToAll>(collective, layout);
}

Elements granule(const Collective& collective, const Layout& layout) {
  return BlockRanges::granule(collective.ranks, layout);
}

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
      .make_for_many = make,
      .granule_for_many = granule,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
