#include "algorithms/catalog.hpp"
#include "algorithms/patterns/block_ranges.hpp"

namespace athanor {

namespace {

/// Per channel a rank has P lanes. Lane d sends the block of the rank d places after; lane 0 adds what all others sent
/// to its own, in-port d-1 from the rank d places before.
class DirectReduceScatter final : public Schedule {
 public:
  DirectReduceScatter(const Collective& collective, const Layout& layout)
      : collective_(collective), ranges_(collective.count, collective.ranks, layout, 1) {}

  Roster roster() const override { return {ranks(), ranks()}; }
  std::uint32_t lanes(AgentId) const override { return ranges_.channels() * ranks(); }
  Lane lane(AgentId, LaneId lane) const override {
    const std::uint32_t channel = lane.value / ranks();
    const bool adds = lane.value % ranks() == 0;
    return {1, ranges_.loops(channel), adds ? ranks() - 1 : 0, adds ? 0 : 1U,
            ProgramId{2 * ranges_.shape(channel) + (adds ? 0 : 1)}};
  }
  Memory memory(AgentId agent) const override {
    Memory memory{collective_.count, ranges_.length(agent.value), Elements::zero(), {}};
    if (collective_.in_place) { memory.in_place = -ranges_.first(agent.value).count(); }
    return memory;
  }
  Endpoint target(AgentId agent, LaneId lane, PortId) const override {
    const std::uint32_t places = lane.value % ranks();
    return {AgentId{after(agent.value, places)}, LaneId{lane.value - places}, PortId{places - 1}};
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    return {AgentId{after(agent.value, ranks() - in.value - 1)}, LaneId{lane.value + in.value + 1}, PortId{0}};
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t) const override {
    const std::uint32_t channel = lane.value / ranks();
    const std::uint32_t places = lane.value % ranks();
    const std::uint32_t owner = after(agent.value, places);
    const Piece range = ranges_.part(owner, channel, loop);
    Primitive primitive;
    primitive.count = range.count;
    primitive.operands[0] = contiguous(Buffer::input, ranges_.first(owner) + range.first);
    if (places == 0) {
      primitive.receives = {0, ranks() - 1};
      primitive.store = contiguous(Buffer::output, range.first);
      primitive.finish = true;
    } else {
      primitive.sends = {0, 1};
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
  return std::make_unique<DirectReduceScatter>(collective, layout);
}

Elements granule(const Collective& collective, const Layout& layout) {
  return BlockRanges::granule(collective.ranks, layout);
}

/// Every rank sends all blocks but its own, of which the last is the shortest.
Cost cost(const Collective& collective) {
  const Elements last = block(collective.count, collective.ranks, collective.ranks - 1).count;
  return {1, collective.count - last, block(collective.count, collective.ranks, 0).count * (collective.ranks - 1)};
}

}  // namespace

Algorithm direct_reduce_scatter() {
  return {
      .name = "direct",
      .kind = CollectiveKind::reduce_scatter,
      .summary = "every rank sends each block to its owner at once; for few ranks in reach of each other",
      .formula = "alpha + (P-1)/P n (beta + gamma)",
      .source =
          "Chan, Heimlich, Purkayastha and van de Geijn, Collective communication: theory, practice, and experience, "
          "2007",
      .explanation = "Every rank sends each block to its owner at once; the owner adds up P-1 shares.",
      .ranks = "any number of ranks",
      .fabrics = "few ranks in reach of each other, inside a node",
      .make_for_many = make,
      .granule_for_many = granule,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
