#include <algorithm>
#include <vector>

#include "algorithms/catalog.hpp"
#include "algorithms/patterns/binary_trees.hpp"
#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

namespace {

/// Both trees need a channel, but for one group, or where the channels' orders say which tree each takes.
Layout cut_layout(const Collective& collective, const Layout& layout) {
  Layout result = slices_as_chunks(layout);
  const bool one_group = layout.group == 0 || layout.group == collective.ranks;
  if (!one_group && layout.orders == nullptr) { result.channels += result.channels % 2; }
  return result;
}

/// All-reduce up and down one tree per channel. Chunks follow each other: a rank has one lane that adds its children's
/// sums to its input and sends up, and one that stores what comes from above and sends it down to its children. The
/// root has one lane that does both. In-port and out-port i belong to child i; the parent's port is 0.
class TreeAllReduce final : public VectorSchedule {
 public:
  TreeAllReduce(const Collective& collective, const Layout& layout)
      : VectorSchedule(collective, 1, cut_layout(collective, layout)), trees_(collective.ranks, layout) {
    for (std::uint32_t channel = 0; channel < cut().channels(); ++channel) { roots_.push_back(trees_.root(channel)); }
  }

  std::uint32_t lanes(AgentId agent) const override { return first_lane(agent.value, cut().channels()); }
  Lane lane(AgentId agent, LaneId lane) const override {
    const Task task = task_of(agent.value, lane);
    const std::uint32_t children = trees_.children(task.channel, agent.value);
    const std::uint32_t role = 4 * static_cast<std::uint32_t>(task.duty) + children;
    const std::uint32_t ins = task.duty == Duty::down ? 1 : children;
    const std::uint32_t outs = task.duty == Duty::up ? 1 : children;
    return {1, cut().loops(task.channel), ins, outs, ProgramId{12 * cut().shape(task.channel) + role}};
  }
  std::uint32_t channel(AgentId agent, LaneId lane) const override { return task_of(agent.value, lane).channel; }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    const Task task = task_of(agent.value, lane);
    return task.duty == Duty::up ? at_parent(task, agent.value) : at_child(task, agent.value, out, Duty::down);
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    const Task task = task_of(agent.value, lane);
    return task.duty == Duty::down ? at_parent(task, agent.value) : at_child(task, agent.value, in, Duty::up);
  }
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t) const override {
    const Task task = task_of(agent.value, lane);
    const ElementRange range = cut().piece(task.channel, loop, 0);
    const std::uint32_t children = trees_.children(task.channel, agent.value);
    Primitive primitive = over(range);
    primitive.receives = {0, task.duty == Duty::down ? 1 : children};
    primitive.sends = {0, task.duty == Duty::up ? 1 : children};
    if (task.duty != Duty::down) { primitive.operands[0] = contiguous(Buffer::input, range.first); }
    if (task.duty != Duty::up) { primitive.store = contiguous(Buffer::output, range.first); }
    primitive.finish = task.duty == Duty::turn;
    return primitive;
  }

  static Elements granule(const Collective& collective, const Layout& layout) {
    return VectorCut::granule(1, cut_layout(collective, layout));
  }
  /// Of a layout with one loop.
  Cost cost() const {
    Cost result{2 * trees_.depth(), Elements::zero(), Elements::zero()};
    for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
      Elements sent;
      Elements reduced;
      for (std::uint32_t channel = 0; channel < cut().channels(); ++channel) {
        const Elements part = cut().piece(channel, 0, 0).count;
        const std::uint32_t children = trees_.children(channel, rank);
        sent += part * (children + (is_root(rank, channel) ? 0 : 1));
        reduced += part * children;
      }
      result.sent = std::max(result.sent, sent);
      result.reduced = std::max(result.reduced, reduced);
    }
    return result;
  }

 private:
  enum class Duty : std::uint8_t { up, down, turn };
  struct Task {
    std::uint32_t channel = 0;
    Duty duty = Duty::up;
  };

  bool is_root(std::uint32_t rank, std::uint32_t channel) const { return roots_[channel] == rank; }
  /// Lanes of a rank before the channel.
  std::uint32_t first_lane(std::uint32_t rank, std::uint32_t channel) const {
    if (!trees_.in_root_group(rank)) { return 2 * channel; }
    const auto as_root = std::count(roots_.begin(), roots_.begin() + channel, rank);
    return 2 * channel - static_cast<std::uint32_t>(as_root);
  }
  /// The lane of that channel which goes up or down; the root's is the one that it has.
  LaneId lane_of(std::uint32_t rank, std::uint32_t channel, Duty duty) const {
    return LaneId{first_lane(rank, channel) + (duty == Duty::down && !is_root(rank, channel) ? 1 : 0)};
  }
  Task task_of(std::uint32_t rank, LaneId lane) const {
    std::uint32_t channel = lane.value / 2;
    while (first_lane(rank, channel) + (is_root(rank, channel) ? 1 : 2) <= lane.value) { ++channel; }
    if (is_root(rank, channel)) { return {channel, Duty::turn}; }
    return {channel, lane.value == first_lane(rank, channel) ? Duty::up : Duty::down};
  }
  Endpoint at_parent(const Task& task, std::uint32_t rank) const {
    const std::uint32_t parent = trees_.parent(task.channel, rank);
    return {AgentId{parent}, lane_of(parent, task.channel, task.duty), PortId{trees_.index(task.channel, rank)}};
  }
  Endpoint at_child(const Task& task, std::uint32_t rank, PortId port, Duty duty) const {
    const std::uint32_t child = trees_.child(task.channel, rank, port.value);
    return {AgentId{child}, lane_of(child, task.channel, duty), PortId{0}};
  }

  ChainTrees trees_;
  std::vector<std::uint32_t> roots_;  ///< by channel
};

/// Every rank is a group of its own.
Layout alone(Layout layout) {
  layout.group = 1;
  layout.orders = {};
  return layout;
}

std::unique_ptr<const Schedule> make_double_binary_tree(const Collective& collective, const Layout& layout) {
  return std::make_unique<TreeAllReduce>(collective, alone(layout));
}

Elements granule_of_double_binary_tree(const Collective& collective, const Layout& layout) {
  return TreeAllReduce::granule(collective, alone(layout));
}

/// Nobody is an inner node of both trees, but for one rank where their number is odd.
Cost cost_of_double_binary_tree(const Collective& collective) { return TreeAllReduce(collective, alone({})).cost(); }

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
      .make_for_many = make_double_binary_tree,
      .granule_for_many = granule_of_double_binary_tree,
      .cost_for_many = cost_of_double_binary_tree,
  };
}

Algorithm node_chain_tree_all_reduce() {
  return {
      .name = "node_chain_tree",
      .kind = CollectiveKind::all_reduce,
      .summary = "a chain through each node, and two binary trees over the nodes; each takes half of the payload",
      .formula =
          "in one chunk 2(g-1+h) alpha for P/g nodes of g ranks, h = the depth of the trees over the nodes, about log2 "
          "(P/g); a node sends 2n and gets 2n with more than two nodes, n each way with two; chunks follow each other",
      .source =
          "NCCL 2.30.7, src/graph/trees.cc, src/graph/connect.cc and src/device/all_reduce.h (Tree); Jeaugey, "
          "Massively scale your deep learning training with NCCL 2.4, 2019",
      .explanation =
          "The ranks of a node form a chain in the channel's order, and the first of it speaks with other nodes: sums "
          "go up the chain and on to the parent node, results come back down, chunk after chunk. Over the nodes there "
          "are two binary trees, half of the payload in each: a node is a leaf of one and an inner node of the other. "
          "tree_heads says to which places of a chain the nodes below attach.",
      .ranks = "any number of ranks that groups divide evenly; without groups it is one chain",
      .fabrics = "nodes with a fast inside, many of them, small and middle payloads",
      .pipelines = true,
      .make_for_many = make_schedule<TreeAllReduce>,
      .granule_for_many = TreeAllReduce::granule,
      .cost_in_shape = cost_of_schedule<TreeAllReduce>,
  };
}

}  // namespace athanor
