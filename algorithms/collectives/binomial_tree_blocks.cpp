#include <algorithm>

#include "algorithms/catalog.hpp"
#include "algorithms/patterns/binomial_tree.hpp"
#include "algorithms/patterns/block_ranges.hpp"
#include "algorithms/patterns/rank_schedule.hpp"
#include "algorithms/schedule/reversed.hpp"

namespace athanor {

namespace {

std::uint32_t most_blocks(std::uint32_t ranks) {
  std::uint32_t most = 1;
  for (std::uint32_t size = 1; size < ranks; size *= 2) { most = std::max(most, std::min(size, ranks - size)); }
  return most;
}

/// A rank gets the blocks of its subtree in scratch and sends each child those of its own, the largest subtree first
/// (out-port i is child i). The root sends from its input.
///
/// A subtree has successive ranks, so its blocks lie one after the other in the vector, but where rank 0 follows the
/// last rank: the root puts the one message that has both together in scratch. Other ranks with children have the
/// blocks of their subtree in scratch, in the order of ranks from their own, without gaps. One lane per channel.
class BinomialTreeScatter final : public BlockSchedule {
 public:
  BinomialTreeScatter(const Collective& collective, const Layout& layout, Direction copies = Direction::forwards)
      : BlockSchedule(collective, most_blocks(collective.ranks), layout),
        tree_(collective.ranks, collective.root),
        copies_(copies) {}

  /// What all do who have the same size of subtree, as far as they are alike, is one program.
  Lane lane(AgentId agent, LaneId lane) const override {
    const std::uint32_t role = is_root(agent) ? 0 : subtree(agent.value).size;
    return {steps(agent.value), cut().loops(lane.value), is_root(agent) ? 0U : 1U, tree_.children(agent.value),
            ProgramId{role * cut().channels() + cut().shape(lane.value)}};
  }
  Memory memory(AgentId agent) const override {
    Memory memory = BlockSchedule::memory(agent);
    memory.scratch = scratch_per_channel(agent.value) * cut().channels();
    return memory;
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    return {AgentId{tree_.child(agent.value, out.value)}, lane, PortId{0}};
  }
  Endpoint source(AgentId agent, LaneId lane, PortId) const override {
    return {AgentId{tree_.parent(agent.value)}, lane, PortId{tree_.index(agent.value)}};
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const std::uint32_t rank = agent.value;
    const Place place{lane.value, loop};
    if (step + 1 == steps(rank)) { return own(rank, place); }
    const std::uint32_t before = steps(rank) - 1 - tree_.children(rank);
    if (step < before) {
      return tree_.is_root(rank) ? wrap(place, copies_ == Direction::forwards ? step : 1 - step)
                                 : receive_all(rank, place);
    }
    const std::uint32_t i = tree_.children(rank) - 1 - (step - before);
    const Subtree below = subtree(tree_.child(rank, i));
    Primitive primitive = over(around(below, place));
    primitive.operands[0] = !tree_.is_root(rank) ? scratch(rank, place, around({rank, 1U << i}, place))
                            : wraps(below)       ? scratch(rank, place, Elements::zero())
                                                 : blocks(below.first, place);
    primitive.sends = {i, 1};
    return primitive;
  }

  Elements message_limit() const override {
    return std::min(collective().count, cut().widest() * most_blocks(ranks()));
  }
  Elements shift(Buffer buffer) const override { return buffer == Buffer::scratch ? Elements::zero() : cut().shift(); }

 private:
  struct Place {
    std::uint32_t channel;
    std::uint64_t loop;
  };
  /// Ranks first, first + 1, ...; rank 0 follows the last.
  struct Subtree {
    std::uint32_t first;
    std::uint32_t size;
  };

  Subtree subtree(std::uint32_t rank) const {
    if (tree_.is_root(rank)) { return {rank, ranks()}; }
    return {rank, std::min(1U << tree_.index(rank), ranks() - before(rank, collective().root))};
  }
  bool wraps(const Subtree& subtree) const { return subtree.size > ranks() - subtree.first; }
  /// The root's child whose ranks have rank 0 behind the last; of size 0 if there is none.
  Subtree wrapped_child() const {
    for (std::uint32_t i = 0; i < tree_.children(collective().root); ++i) {
      const Subtree below = subtree(tree_.child(collective().root, i));
      if (wraps(below)) { return below; }
    }
    return {0, 0};
  }
  Elements around(const Subtree& subtree, const Place& place) const {
    return cut().around(subtree.first, subtree.size, place.channel, place.loop);
  }

  /// The root puts the wrapped message together in two halves; others receive all at once, unless they have no
  /// children; each child; the own block.
  std::uint32_t steps(std::uint32_t rank) const {
    const std::uint32_t children = tree_.children(rank);
    if (tree_.is_root(rank)) { return 1 + children + (wrapped_child().size > 0 ? 2 : 0); }
    return children == 0 ? 1 : children + 2;
  }
  Elements scratch_per_channel(std::uint32_t rank) const {
    if (tree_.is_root(rank)) { return cut().widest() * wrapped_child().size; }
    return tree_.children(rank) == 0 ? Elements::zero() : cut().widest() * subtree(rank).size;
  }
  Cells scratch(std::uint32_t rank, const Place& place, Elements offset) const {
    return contiguous(Buffer::scratch, scratch_per_channel(rank) * place.channel + offset);
  }
  Cells blocks(std::uint32_t first, const Place& place) const {
    return cut().cells(Buffer::input, first, place.channel, place.loop);
  }

  Primitive own(std::uint32_t rank, const Place& place) const {
    const ElementRange range = cut().part(rank, place.channel, place.loop);
    Primitive primitive = over(range);
    if (tree_.is_root(rank)) {
      primitive.operands[0] = blocks(rank, place);
    } else if (tree_.children(rank) == 0) {
      primitive.receives = {0, 1};
    } else {
      primitive.operands[0] = scratch(rank, place, Elements::zero());
    }
    if (!tree_.is_root(rank) || !collective().in_place) { primitive.store = contiguous(Buffer::output, range.first); }
    return primitive;
  }
  Primitive receive_all(std::uint32_t rank, const Place& place) const {
    Primitive primitive = over(around(subtree(rank), place));
    primitive.receives = {0, 1};
    primitive.store = scratch(rank, place, Elements::zero());
    return primitive;
  }
  /// From the end (0) and from the begin (1) of the input to scratch.
  Primitive wrap(const Place& place, std::uint32_t half) const {
    const Subtree child = wrapped_child();
    const std::uint32_t before = ranks() - child.first;
    const Elements first = cut().elements(child.first, before, place.channel, place.loop);
    const Elements second = cut().elements(0, child.size - before, place.channel, place.loop);
    Primitive primitive = over(half == 0 ? first : second);
    primitive.operands[0] = blocks(half == 0 ? child.first : 0, place);
    primitive.store = scratch(collective().root, place, half == 0 ? Elements::zero() : first);
    return primitive;
  }

  BinomialTree tree_;
  Direction copies_;
};

/// The root sends every block but its own.
Cost cost_of_scatter(const Collective& collective) {
  const Elements own = block(collective.count, collective.ranks, collective.root).count;
  return {BinomialTree(collective.ranks, collective.root).rounds(), collective.count - own, Elements::zero()};
}

/// A rank puts its own block and those that its children send, the smallest subtree first, one after the other into
/// scratch and sends all to its parent. The root stores what arrives in its output.
std::unique_ptr<const Schedule> make_gather(const Collective& collective, const Layout& layout) {
  return reversed(std::make_unique<BinomialTreeScatter>(dual_of(collective), layout, Direction::backwards), collective);
}

/// The largest message is one to the root: those of its children that have the most blocks, or fuller ones.
Cost cost_of_gather(const Collective& collective) {
  const BinomialTree tree(collective.ranks, collective.root);
  const BlockRanges ranges(collective.count, collective.ranks, {}, 1);
  Elements largest;
  for (std::uint32_t i = 0; i < tree.children(collective.root); ++i) {
    const std::uint32_t size = std::min(1U << i, collective.ranks - (1U << i));
    largest = std::max(largest, ranges.around(tree.child(collective.root, i), size, 0, 0));
  }
  return {tree.depth(), largest, Elements::zero()};
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
      .make_for_many = make_schedule<BinomialTreeScatter>,
      .granule_for_many = granule_of_blocks,
      .cost_for_many = cost_of_scatter,
  };
}

Algorithm binomial_tree_gather() {
  Algorithm algorithm = binomial_tree_scatter();
  algorithm.kind = CollectiveKind::gather;
  algorithm.summary = "subtrees of doubling size hand their blocks on; for small payloads";
  algorithm.formula = "floor(log2 P) alpha + (P-1)/P n beta at most, at the root's port";
  algorithm.explanation = "Subtrees of doubling size hand their blocks on as one message, until the root has all.";
  algorithm.make_for_many = make_gather;
  algorithm.cost_for_many = cost_of_gather;
  return algorithm;
}

}  // namespace athanor
