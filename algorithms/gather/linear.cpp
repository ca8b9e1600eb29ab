#include "algorithms/catalog.hpp"
#include "algorithms/patterns/star.hpp"

namespace athanor {

namespace {

/// All send their blocks to the root at once.
class LinearGather final : public Star {
 public:
  using Star::Star;

  Lane lane(AgentId agent, LaneId lane) const override { return shape(agent, lane, true); }
  Memory memory(AgentId agent) const override {
    Memory memory{ranges().length(agent.value), Elements::zero(), Elements::zero(), {}};
    if (!is_root(agent)) { return memory; }
    memory.output = collective().count;
    if (collective().in_place) { memory.in_place = ranges().first(agent.value).count(); }
    return memory;
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t) const override {
    const std::uint32_t owner = this->owner(agent, lane);
    const Piece range = ranges().part(owner, channel(agent, lane), loop);
    const bool local = owner == collective().root;
    Primitive primitive;
    primitive.count = range.count;
    if (owner == agent.value) { primitive.operands[0] = contiguous(Buffer::input, range.first); }
    if (!is_root(agent)) {
      primitive.sends = {0, 1};
    } else if (!local) {
      primitive.receives = {0, 1};
    }
    if (is_root(agent) && !(local && collective().in_place)) {
      primitive.store = contiguous(Buffer::output, ranges().first(owner) + range.first);
    }
    return primitive;
  }
};

std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return std::make_unique<LinearGather>(collective, layout);
}

Elements granule(const Collective& collective, const Layout& layout) {
  return BlockRanges::granule(collective.ranks, layout);
}

/// The fullest block but the root's is sent once.
Cost cost(const Collective& collective) {
  return {1, block(collective.count, collective.ranks, collective.root == 0 ? 1 : 0).count, Elements::zero()};
}

}  // namespace

Algorithm linear_gather() {
  return {
      .name = "linear",
      .kind = CollectiveKind::gather,
      .summary = "all send their blocks to the root at once",
      .formula = "alpha + (P-1)/P n beta, at the root's port",
      .source =
          "Chan, Heimlich, Purkayastha and van de Geijn, Collective communication: theory, practice, and experience, "
          "2007",
      .explanation = "All send their block to the root at once, whose port they share.",
      .ranks = "any number of ranks",
      .fabrics = "few ranks, or large blocks",
      .make_for_many = make,
      .granule_for_many = granule,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
