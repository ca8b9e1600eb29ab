#include "algorithms/catalog.hpp"
#include "algorithms/patterns/star.hpp"

namespace athanor {

namespace {

/// The root sends all blocks at once.
class LinearScatter final : public Star {
 public:
  using Star::Star;

  Lane lane(AgentId agent, LaneId lane) const override { return shape(agent, lane, false); }
  Memory memory(AgentId agent) const override {
    Memory memory{Elements::zero(), ranges().length(agent.value), Elements::zero(), {}};
    if (!is_root(agent)) { return memory; }
    memory.input = collective().count;
    if (collective().in_place) { memory.in_place = -ranges().first(agent.value).count(); }
    return memory;
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t) const override {
    const std::uint32_t owner = this->owner(agent, lane);
    const Piece range = ranges().part(owner, channel(agent, lane), loop);
    const bool local = owner == collective().root;
    Primitive primitive;
    primitive.count = range.count;
    if (is_root(agent)) { primitive.operands[0] = contiguous(Buffer::input, ranges().first(owner) + range.first); }
    if (!is_root(agent)) {
      primitive.receives = {0, 1};
    } else if (!local) {
      primitive.sends = {0, 1};
    }
    if (owner == agent.value && !(local && collective().in_place)) {
      primitive.store = contiguous(Buffer::output, range.first);
    }
    return primitive;
  }
};

std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return std::make_unique<LinearScatter>(collective, layout);
}

Elements granule(const Collective& collective, const Layout& layout) {
  return BlockRanges::granule(collective.ranks, layout);
}

Cost cost(const Collective& collective) {
  return {1, collective.count - block(collective.count, collective.ranks, collective.root).count, Elements::zero()};
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
      .make_for_many = make,
      .granule_for_many = granule,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
