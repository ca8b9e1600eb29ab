#include <algorithm>

#include "algorithms/catalog.hpp"
#include "algorithms/patterns/block_tree.hpp"

namespace athanor {

namespace {

/// A rank gets the blocks of its subtree in scratch and sends each child those of its own, the largest subtree first
/// (out-port i is child i). The root sends from its input; the one message that has the last rank's block and then
/// rank 0's is put together in scratch.
class BinomialTreeScatter final : public BlockTree {
 public:
  using BlockTree::BlockTree;

  Lane lane(AgentId agent, LaneId lane) const override {
    const std::uint32_t children = tree().children(agent.value);
    const bool root = tree().is_root(agent.value);
    return {steps(agent.value), ranges().loops(lane.value), root ? 0U : 1U, children, program(agent.value, lane)};
  }
  Memory memory(AgentId agent) const override {
    Memory memory{Elements::zero(), ranges().length(agent.value), scratch_size(agent.value), {}};
    if (!tree().is_root(agent.value)) { return memory; }
    memory.input = collective().count;
    if (collective().in_place) { memory.in_place = -ranges().first(agent.value).count(); }
    return memory;
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override { return child(agent, lane, out); }
  Endpoint source(AgentId agent, LaneId lane, PortId) const override { return parent(agent, lane); }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const std::uint32_t rank = agent.value;
    const Place place{lane.value, loop};
    if (step + 1 == steps(rank)) { return own(rank, place); }
    const std::uint32_t before = steps(rank) - 1 - tree().children(rank);
    if (step < before) { return tree().is_root(rank) ? wrap(place, step) : receive_all(rank, place); }
    const std::uint32_t i = tree().children(rank) - 1 - (step - before);
    const Subtree below = subtree(tree().child(rank, i));
    Primitive primitive;
    primitive.count = around(below, place);
    primitive.operands[0] = !tree().is_root(rank) ? scratch(rank, place, offset(rank, i, place))
                            : wraps(below)        ? scratch(rank, place, Elements::zero())
                                                  : blocks(Buffer::input, below.first, place);
    primitive.sends = {i, 1};
    return primitive;
  }

 private:
  Primitive own(std::uint32_t rank, const Place& place) const {
    const Piece range = ranges().part(rank, place.channel, place.loop);
    Primitive primitive;
    primitive.count = range.count;
    if (tree().is_root(rank)) {
      primitive.operands[0] = blocks(Buffer::input, rank, place);
    } else if (tree().children(rank) == 0) {
      primitive.receives = {0, 1};
    } else {
      primitive.operands[0] = scratch(rank, place, Elements::zero());
    }
    if (!tree().is_root(rank) || !collective().in_place) { primitive.store = contiguous(Buffer::output, range.first); }
    return primitive;
  }
  Primitive receive_all(std::uint32_t rank, const Place& place) const {
    Primitive primitive;
    primitive.count = around(subtree(rank), place);
    primitive.receives = {0, 1};
    primitive.store = scratch(rank, place, Elements::zero());
    return primitive;
  }
  /// From the end (0) and from the begin (1) of the input to scratch.
  Primitive wrap(const Place& place, std::uint32_t half) const {
    Primitive primitive = wrapped(place, half);
    primitive.operands[0] = wrapped_blocks(Buffer::input, place, half);
    primitive.store = wrapped_scratch(place, half);
    return primitive;
  }
};

std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return std::make_unique<BinomialTreeScatter>(collective, layout);
}

Elements granule(const Collective& collective, const Layout& layout) {
  return BlockRanges::granule(collective.ranks, layout);
}

/// The root sends every block but its own.
Cost cost(const Collective& collective) {
  const Elements own = block(collective.count, collective.ranks, collective.root).count;
  return {BinomialTree(collective.ranks, collective.root).rounds(), collective.count - own, Elements::zero()};
}

}  // namespace

Algorithm binomial_tree_scatter() {
  return {
      .name = "binomial_tree",
      .kind = CollectiveKind::scatter,
      .summary = "the root hands out the blocks of subtrees, which hand them on; for small payloads",
      .formula = "ceil(log2 P) alpha + (P-1)/P n beta",
      .source =
          "Chan, Heimlich, Purkayastha and van de Geijn, Collective communication: theory, practice, and experience, "
          "2007",
      .explanation =
          "The root hands each child the blocks of its whole subtree, the largest first; children do the same.",
      .ranks = "any number of ranks",
      .fabrics = "small blocks",
      .make_for_many = make,
      .granule_for_many = granule,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
