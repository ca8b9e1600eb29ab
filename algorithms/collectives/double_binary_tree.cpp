#include <algorithm>
#include <array>

#include "algorithms/patterns/binary_trees.hpp"
#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

namespace {

Layout paired(const Layout& layout) {
  Layout result = slices_as_chunks(layout);
  result.channels += result.channels % 2;
  return result;
}

/// The ranks after the root are counted 0 .. P-2 and form two trees; the root feeds both. Even channels use tree 0, odd
/// ones tree 1, so there is an even number of them. A rank stores a chunk and sends it to its children at once; the
/// parent's port is 0, and out-port i belongs to child i.
class DoubleBinaryTreeBroadcast final : public VectorSchedule {
 public:
  DoubleBinaryTreeBroadcast(const Collective& collective, const Layout& layout)
      : VectorSchedule(collective, 1, paired(layout)), trees_(std::max(2U, collective.ranks - 1)) {}

  Lane lane(AgentId agent, LaneId lane) const override {
    const bool root = is_root(agent);
    const std::uint32_t below = children(agent.value, lane);
    return {1, cut().loops(lane.value), root ? 0U : 1U, below,
            ProgramId{4 * cut().shape(lane.value) + (root ? 3 : below)}};
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    const std::uint32_t tree = lane.value % 2;
    if (is_root(agent)) { return {at(alone() ? 0 : trees_.root(tree)), lane, PortId{0}}; }
    return {at(trees_.child(tree, place(agent.value), out.value)), lane, PortId{0}};
  }
  Endpoint source(AgentId agent, LaneId lane, PortId) const override {
    const std::uint32_t tree = lane.value % 2;
    const std::uint32_t here = place(agent.value);
    if (alone() || trees_.is_root(tree, here)) { return {AgentId{collective().root}, lane, PortId{0}}; }
    return {at(trees_.parent(tree, here)), lane, PortId{trees_.index(tree, here)}};
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t) const override {
    const ElementRange range = cut().piece(lane.value, loop, 0);
    const bool root = is_root(agent);
    Primitive primitive = over(range);
    primitive.sends = {0, children(agent.value, lane)};
    if (root) {
      primitive.operands[0] = contiguous(Buffer::input, range.first);
    } else {
      primitive.receives = {0, 1};
    }
    if (!root || !collective().in_place) { primitive.store = contiguous(Buffer::output, range.first); }
    return primitive;
  }

 private:
  /// Is there one rank beside the root? It is no tree.
  bool alone() const { return ranks() == 2; }
  std::uint32_t place(std::uint32_t rank) const { return before(rank, collective().root + 1); }
  AgentId at(std::uint32_t place) const { return AgentId{after(place, collective().root + 1)}; }
  std::uint32_t children(std::uint32_t rank, LaneId lane) const {
    if (rank == collective().root) { return 1; }
    return alone() ? 0 : trees_.children(lane.value % 2, place(rank));
  }

  DoubleBinaryTree trees_;
};

Elements granule(const Collective&, const Layout& layout) { return VectorCut::granule(1, paired(layout)); }

/// The root sends each half once. Nobody else is an inner node of both trees, but for one where their number is odd.
Cost cost(const Collective& collective) {
  Cost result{1, collective.count, Elements::zero()};
  if (collective.ranks == 2) { return result; }
  const DoubleBinaryTree trees(collective.ranks - 1);
  const std::array halves{block(collective.count, 2, 0).count, block(collective.count, 2, 1).count};
  result.steps += trees.depth();
  for (std::uint32_t rank = 0; rank + 1 < collective.ranks; ++rank) {
    result.sent = std::max(result.sent, halves[0] * trees.children(0, rank) + halves[1] * trees.children(1, rank));
  }
  return result;
}

}  // namespace

Algorithm double_binary_tree_broadcast() {
  return {
      .name = "double_binary_tree",
      .kind = CollectiveKind::broadcast,
      .summary = "down two binary trees at once, half of the payload on each, chunk by chunk",
      .formula =
          "in one chunk and P = 2^h + 1: (h+1) alpha + (h + 1/2) n beta; in the best number of chunks about n beta + "
          "2h alpha + sqrt(8 h alpha n beta), h = ceil(log2 (P-1))",
      .source = "Sanders, Speck and Traeff, Two-tree algorithms for full bandwidth broadcast, reduction and scan, 2009",
      .explanation =
          "The root feeds two binary trees over the other ranks with half of the payload each, chunk after chunk; a "
          "leaf of one tree is an inner rank of the other, so that nearly every rank sends the payload once.",
      .ranks = "any number of ranks",
      .fabrics = "large payloads over many ranks, where a ring has too many steps; needs several chunks",
      .pipelines = true,
      .make_for_many = make_schedule<DoubleBinaryTreeBroadcast>,
      .granule_for_many = granule,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
