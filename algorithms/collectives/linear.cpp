#include "algorithms/catalog.hpp"
#include "algorithms/patterns/rank_schedule.hpp"
#include "algorithms/schedule/reversed.hpp"

namespace athanor {

namespace {

/// The root sends all blocks at once: per channel it has P lanes, of which lane d serves the rank d places after it and
/// lane 0 its own block, while every other rank has one lane. A lane has one port or none.
class LinearScatter final : public BlockSchedule {
 public:
  LinearScatter(const Collective& collective, const Layout& layout) : BlockSchedule(collective, 1, layout) {}

  std::uint32_t lanes(AgentId agent) const override { return cut().channels() * (is_root(agent) ? ranks() : 1); }
  std::uint32_t channel(AgentId agent, LaneId lane) const override {
    return is_root(agent) ? lane.value / ranks() : lane.value;
  }
  Lane lane(AgentId agent, LaneId lane) const override {
    const std::uint32_t channel = this->channel(agent, lane);
    const bool local = owner(agent, lane) == collective().root;
    const std::uint32_t role = local ? 0 : is_root(agent) ? 1 : 2;
    return {1, cut().loops(channel), is_root(agent) ? 0U : 1U, is_root(agent) && !local ? 1U : 0U,
            ProgramId{3 * cut().shape(channel) + role}};
  }
  Endpoint target(AgentId agent, LaneId lane, PortId) const override {
    return {AgentId{owner(agent, lane)}, LaneId{channel(agent, lane)}, PortId{0}};
  }
  Endpoint source(AgentId agent, LaneId lane, PortId) const override {
    const std::uint32_t root = collective().root;
    return {AgentId{root}, LaneId{lane.value * ranks() + before(agent.value, root)}, PortId{0}};
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t) const override {
    const std::uint32_t owner = this->owner(agent, lane);
    const ElementRange range = cut().part(owner, channel(agent, lane), loop);
    const bool local = owner == collective().root;
    Primitive primitive = over(range);
    if (is_root(agent)) { primitive.operands[0] = contiguous(Buffer::input, cut().first(owner) + range.first); }
    if (!is_root(agent)) { primitive.receives = {0, 1}; }
    if (is_root(agent) && !local) { primitive.sends = {0, 1}; }
    if (owner == agent.value && !(local && collective().in_place)) {
      primitive.store = contiguous(Buffer::output, range.first);
    }
    return primitive;
  }

 private:
  /// Whose block this lane moves.
  std::uint32_t owner(AgentId agent, LaneId lane) const {
    return is_root(agent) ? after(collective().root, lane.value % ranks()) : agent.value;
  }
};

Cost cost_of_scatter(const Collective& collective) {
  return {1, collective.count - block(collective.count, collective.ranks, collective.root).count, Elements::zero()};
}

std::unique_ptr<const Schedule> make_gather(const Collective& collective, const Layout& layout) {
  return reversed(std::make_unique<LinearScatter>(dual_of(collective), layout), collective);
}

/// The fullest block but the root's is sent once.
Cost cost_of_gather(const Collective& collective) {
  return {1, block(collective.count, collective.ranks, collective.root == 0 ? 1 : 0).count, Elements::zero()};
}

}  // namespace

Algorithm linear_scatter() {
  return {
      .name = "linear",
      .kind = CollectiveKind::scatter,
      .summary = "the root sends all blocks at once",
      .formula = "alpha + (P-1)/P n beta",
      .source =
          "Chan, Heimlich, Purkayastha and van de Geijn, Collective communication: theory, practice, and experience, "
          "2007",
      .explanation = "The root sends all blocks at once through its port.",
      .ranks = "any number of ranks",
      .fabrics = "few ranks, or large blocks",
      .make_for_many = make_schedule<LinearScatter>,
      .granule_for_many = granule_of_blocks,
      .cost_for_many = cost_of_scatter,
  };
}

Algorithm linear_gather() {
  Algorithm algorithm = linear_scatter();
  algorithm.kind = CollectiveKind::gather;
  algorithm.summary = "all send their blocks to the root at once";
  algorithm.formula = "alpha + (P-1)/P n beta, at the root's port";
  algorithm.explanation = "All send their block to the root at once, whose port they share.";
  algorithm.make_for_many = make_gather;
  algorithm.cost_for_many = cost_of_gather;
  return algorithm;
}

}  // namespace athanor
