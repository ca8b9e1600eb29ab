#include <algorithm>

#include "algorithms/catalog.hpp"
#include "algorithms/patterns/block_tree.hpp"

namespace athanor {

namespace {

/// A rank puts its own block and those that its children send, the smallest subtree first (in-port i is child i), one
/// after the other into scratch and sends all to its parent. The root stores what arrives in its output; the one
/// message that has the last rank's block and then rank 0's goes through scratch.
class BinomialTreeGather final : public BlockTree {
 public:
  using BlockTree::BlockTree;

  Lane lane(AgentId agent, LaneId lane) const override {
    const std::uint32_t children = tree().children(agent.value);
    const bool root = tree().is_root(agent.value);
    return {steps(agent.value), ranges().loops(lane.value), children, root ? 0U : 1U, program(agent.value, lane)};
  }
  Memory memory(AgentId agent) const override {
    Memory memory{ranges().length(agent.value), Elements::zero(), scratch_size(agent.value), {}};
    if (!tree().is_root(agent.value)) { return memory; }
    memory.output = collective().count;
    if (collective().in_place) { memory.in_place = ranges().first(agent.value).count(); }
    return memory;
  }
  Endpoint target(AgentId agent, LaneId lane, PortId) const override { return parent(agent, lane); }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override { return child(agent, lane, in); }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const std::uint32_t rank = agent.value;
    const Place place{lane.value, loop};
    const std::uint32_t children = tree().children(rank);
    if (step == 0) { return own(rank, place); }
    if (step > children) { return tree().is_root(rank) ? unwrap(place, step - children - 1) : send_all(rank, place); }
    const Subtree below = subtree(tree().child(rank, step - 1));
    Primitive primitive;
    primitive.count = around(below, place);
    primitive.receives = {step - 1, 1};
    primitive.store = tree().is_root(rank) ? (wraps(below) ? scratch(rank, place, Elements::zero())
                                                           : blocks(Buffer::output, below.first, place))
                                           : scratch(rank, place, offset(rank, step - 1, place));
    return primitive;
  }

 private:
  Primitive own(std::uint32_t rank, const Place& place) const {
    const Piece range = ranges().part(rank, place.channel, place.loop);
    Primitive primitive;
    primitive.count = range.count;
    primitive.operands[0] = contiguous(Buffer::input, range.first);
    if (tree().is_root(rank)) {
      if (!collective().in_place) { primitive.store = blocks(Buffer::output, rank, place); }
    } else if (tree().children(rank) == 0) {
      primitive.sends = {0, 1};
    } else {
      primitive.store = scratch(rank, place, Elements::zero());
    }
    return primitive;
  }
  Primitive send_all(std::uint32_t rank, const Place& place) const {
    Primitive primitive;
    primitive.count = around(subtree(rank), place);
    primitive.operands[0] = scratch(rank, place, Elements::zero());
    primitive.sends = {0, 1};
    return primitive;
  }
  /// From scratch to the end (0) and to the begin (1) of the output.
  Primitive unwrap(const Place& place, std::uint32_t half) const {
    Primitive primitive = wrapped(place, half);
    primitive.operands[0] = wrapped_scratch(place, half);
    primitive.store = wrapped_blocks(Buffer::output, place, half);
    return primitive;
  }
};

std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return std::make_unique<BinomialTreeGather>(collective, layout);
}

Elements granule(const Collective& collective, const Layout& layout) {
  return BlockRanges::granule(collective.ranks, layout);
}

Cost cost(const Collective& collective) {
  const BinomialTreeGather gather(collective, {});
  return {BinomialTree(collective.ranks, collective.root).depth(), gather.largest_message(), Elements::zero()};
}

}  // namespace

Algorithm binomial_tree_gather() {
  return {
      .name = "binomial_tree",
      .kind = CollectiveKind::gather,
      .summary = "subtrees of doubling size hand their blocks on; for small payloads",
      .formula = "floor(log2 P) alpha + (P-1)/P n beta at most, at the root's port",
      .source =
          "Chan, Heimlich, Purkayastha and van de Geijn, Collective communication: theory, practice, and experience, "
          "2007",
      .explanation = "Subtrees of doubling size hand their blocks on as one message, until the root has all.",
      .ranks = "any number of ranks",
      .fabrics = "small blocks",
      .make_for_many = make,
      .granule_for_many = granule,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
