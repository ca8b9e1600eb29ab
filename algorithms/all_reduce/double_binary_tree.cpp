#include "algorithms/patterns/double_binary_tree.hpp"

#include <algorithm>
#include <array>

#include "algorithms/catalog.hpp"
#include "algorithms/layout.hpp"

namespace athanor {

namespace {

/// Even channels use tree 0, odd ones tree 1, so there is an even number of them. Chunks follow each other: a rank has
/// one lane that adds its children's sums to its input and sends up, and one that stores what comes from above and
/// sends it down to its children. The root has one lane that does both. In-port and out-port i belong to child i; the
/// parent's port is 0.
class DoubleBinaryTreeAllReduce final : public Schedule {
 public:
  DoubleBinaryTreeAllReduce(const Collective& collective, const Layout& layout)
      : collective_(collective), trees_(collective.ranks), cut_(collective.count, 1, layout) {}

  Roster roster() const override { return {collective_.ranks, collective_.ranks}; }
  std::uint32_t lanes(AgentId agent) const override {
    const std::uint32_t rank = agent.value;
    return cut_.channels() / 2 * lanes_per_pair(rank) + (cut_.channels() % 2 == 0 ? 0 : lanes_in(0, rank));
  }
  Lane lane(AgentId agent, LaneId lane) const override {
    const Task task = task_of(agent.value, lane);
    const std::uint32_t children = trees_.children(task.tree(), agent.value);
    const std::uint32_t role = 3 * static_cast<std::uint32_t>(task.duty) + children;
    const std::uint32_t ins = task.duty == Duty::down ? 1 : children;
    const std::uint32_t outs = task.duty == Duty::up ? 1 : children;
    return {1, cut_.loops(task.channel), ins, outs, ProgramId{9 * cut_.shape(task.channel) + role}};
  }
  Memory memory(AgentId) const override {
    return {collective_.count, collective_.count, Elements::zero(),
            collective_.in_place ? std::optional<std::int64_t>{0} : std::nullopt};
  }

  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    const Task task = task_of(agent.value, lane);
    if (task.duty == Duty::up) { return at_parent(task, agent.value, Duty::up); }
    return at_child(task, agent.value, out, Duty::down);
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    const Task task = task_of(agent.value, lane);
    if (task.duty == Duty::down) { return at_parent(task, agent.value, Duty::down); }
    return at_child(task, agent.value, in, Duty::up);
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t) const override {
    const Task task = task_of(agent.value, lane);
    const Piece range = cut_.piece(task.channel, loop, 0);
    const std::uint32_t children = trees_.children(task.tree(), agent.value);
    Primitive primitive;
    primitive.count = range.count;
    primitive.receives = {0, task.duty == Duty::down ? 1 : children};
    primitive.sends = {0, task.duty == Duty::up ? 1 : children};
    if (task.duty != Duty::down) { primitive.operands[0] = contiguous(Buffer::input, range.first); }
    if (task.duty != Duty::up) { primitive.store = contiguous(Buffer::output, range.first); }
    primitive.finish = task.duty == Duty::turn;
    return primitive;
  }

  Elements message_limit() const override { return cut_.message_limit(); }
  Elements shift(Buffer) const override { return cut_.shift(); }
  std::uint32_t least_slots() const override { return 1; }

 private:
  enum class Duty : std::uint8_t { up, down, turn };
  struct Task {
    std::uint32_t channel = 0;
    Duty duty = Duty::up;
    std::uint32_t tree() const { return channel % 2; }
  };

  std::uint32_t lanes_in(std::uint32_t tree, std::uint32_t rank) const { return trees_.is_root(tree, rank) ? 1 : 2; }
  std::uint32_t lanes_per_pair(std::uint32_t rank) const { return lanes_in(0, rank) + lanes_in(1, rank); }

  Task task_of(std::uint32_t rank, LaneId lane) const {
    const std::uint32_t inside = lane.value % lanes_per_pair(rank);
    const std::uint32_t tree = inside < lanes_in(0, rank) ? 0 : 1;
    const std::uint32_t channel = lane.value / lanes_per_pair(rank) * 2 + tree;
    if (trees_.is_root(tree, rank)) { return {channel, Duty::turn}; }
    const bool first = inside == (tree == 0 ? 0 : lanes_in(0, rank));
    return {channel, first ? Duty::up : Duty::down};
  }

  /// The lane of that channel which goes up or down; the root's is the one that it has.
  LaneId lane_of(std::uint32_t rank, std::uint32_t channel, Duty duty) const {
    const std::uint32_t tree = channel % 2;
    const std::uint32_t second = duty == Duty::down && !trees_.is_root(tree, rank) ? 1 : 0;
    return LaneId{channel / 2 * lanes_per_pair(rank) + (tree == 0 ? 0 : lanes_in(0, rank)) + second};
  }

  Endpoint at_parent(const Task& task, std::uint32_t rank, Duty duty) const {
    const std::uint32_t parent = trees_.parent(task.tree(), rank);
    return {AgentId{parent}, lane_of(parent, task.channel, duty), PortId{trees_.index(task.tree(), rank)}};
  }
  Endpoint at_child(const Task& task, std::uint32_t rank, PortId port, Duty duty) const {
    const std::uint32_t child = trees_.child(task.tree(), rank, port.value);
    return {AgentId{child}, lane_of(child, task.channel, duty), PortId{0}};
  }

  Collective collective_;
  DoubleBinaryTree trees_;
  VectorCut cut_;
};

Layout paired(const Layout& layout) {
  Layout result = slices_as_chunks(layout);
  result.channels += result.channels % 2;
  return result;
}

std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return std::make_unique<DoubleBinaryTreeAllReduce>(collective, paired(layout));
}

Elements granule(const Collective&, const Layout& layout) { return VectorCut::granule(1, paired(layout)); }

/// Nobody is an inner node of both trees, but for one rank where their number is odd.
Cost cost(const Collective& collective) {
  const DoubleBinaryTree trees(collective.ranks);
  const std::array halves{block(collective.count, 2, 0).count, block(collective.count, 2, 1).count};
  Cost result{2 * trees.depth(), Elements::zero(), Elements::zero()};
  for (std::uint32_t rank = 0; rank < collective.ranks; ++rank) {
    Elements sent;
    Elements reduced;
    for (std::uint32_t tree = 0; tree < 2; ++tree) {
      const std::uint32_t children = trees.children(tree, rank);
      sent += halves.at(tree) * (children + (trees.is_root(tree, rank) ? 0 : 1));
      reduced += halves.at(tree) * children;
    }
    result.sent = std::max(result.sent, sent);
    result.reduced = std::max(result.reduced, reduced);
  }
  return result;
}

}  // namespace

Algorithm double_binary_tree_all_reduce() {
  return {
      .name = "double_binary_tree",
      .kind = CollectiveKind::all_reduce,
      .summary =
          "up and down two binary trees at once, half of the payload on each, chunk by chunk; logarithmic latency",
      .formula =
          "in one chunk and P = 2^h: 2h alpha + (2h-1) n beta + (h - 1/2) n gamma; in the best number of chunks about "
          "2n beta + 4h alpha + 2 sqrt(8 h alpha n beta) + n gamma, h = ceil(log2 P)",
      .source =
          "Sanders, Speck and Traeff, Two-tree algorithms for full bandwidth broadcast, reduction and scan, 2009; "
          "Jeaugey, Massively scale your deep learning training with NCCL 2.4, 2019 (the form of the trees)",
      .explanation =
          "Two binary trees over the same ranks each take half of the payload: sums go up to the root, results come "
          "back down, chunk after chunk. A leaf of one tree is an inner rank of the other (but for one rank where P is "
          "odd), so that no rank sends more than the payload twice, while the depth is only logarithmic.",
      .ranks = "any number of ranks",
      .fabrics = "many ranks where the steps of a ring cost too much; needs several chunks to reach its bandwidth",
      .pipelines = true,
      .make_for_many = make,
      .granule_for_many = granule,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
