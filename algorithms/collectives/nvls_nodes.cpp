#include <algorithm>
#include <optional>

#include "algorithms/patterns/aggregation_forest.hpp"
#include "algorithms/patterns/binary_trees.hpp"
#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

namespace {

/// What joins the heads of one place on all nodes.
enum class NvlsAcross : std::uint8_t {
  double_binary_tree,  ///< even channels take one tree, odd channels the other
  aggregation_tree,    ///< of the network's switches, one per head
};

/// Both binary trees need a channel.
Layout cut_layout(const Layout& layout, NvlsAcross across) {
  Layout result = slices_as_chunks(layout);
  if (across == NvlsAcross::double_binary_tree) { result.channels += result.channels % 2; }
  return result;
}

/// All-reduce over nodes with NVLink SHARP. Agents: the ranks, an engine for the NVSwitches of each node, and the nodes
/// of the heads' aggregation trees, if any. A loop of a channel has one chunk per head of a node: the engine adds up
/// what the node's ranks send and gives the sum to the head; the heads of one place add up the nodes' sums; each sends
/// the result to its engine, which sends it to all ranks of the node.
///
/// Per channel a rank has H supply lanes and H gather lanes, for H heads of a node, lane j for the head j after it
/// (NodeHeads); and as a head a lane up to the other nodes and one down, or one lane for both at the root of a binary
/// tree. In- and out-port 0 of these belong to the engine, or to what is above; the children in a binary tree follow.
/// An engine has H lanes that reduce and H that multicast, whose port j belongs to the rank j places after the head.
class NvlsNodesAllReduce final : public VectorSchedule {
 public:
  NvlsNodesAllReduce(const Collective& collective, const Layout& layout, NvlsAcross across)
      : VectorSchedule(collective, NodeHeads(NodeGroups(collective.ranks, layout), layout).count(),
                       cut_layout(layout, across)),
        outstanding_(layout.as<EngineTreeShape>().outstanding),
        groups_(collective.ranks, layout),
        heads_(groups_, layout),
        binary_(groups_.nodes) {
    if (across == NvlsAcross::double_binary_tree) { return; }
    const std::uint32_t h = heads_.count();
    trees_.emplace(groups_, layout, AgentId{ranks() + groups_.nodes},
                   RailTrees::HeadLanes{2 * h + 2, 2 * h, 2 * h + 1});
  }

  AgentCount agent_count() const override { return {ranks(), trees_ ? trees_->end() : ranks() + groups_.nodes}; }
  std::uint32_t lanes(AgentId agent) const override {
    if (is_rank(agent)) { return first_lane(agent.value, cut().channels()); }
    return is_tree(agent) ? trees_->lanes(agent, cut()) : cut().channels() * 2 * heads_.count();
  }
  Lane lane(AgentId agent, LaneId lane) const override {
    const std::uint32_t own_programs = 2 * 7 * 3;
    if (is_tree(agent)) { return trees_->lane(agent, lane, cut(), own_programs); }
    const Task task = task_of(agent, lane);
    const PortCounts count = ports(task);
    const std::uint32_t role = 3 * static_cast<std::uint32_t>(task.duty) + task.children;
    return {1, cut().loops(task.channel), count.in, count.out, ProgramId{2 * role + cut().shape(task.channel)}};
  }
  std::uint32_t channel(AgentId agent, LaneId lane) const override {
    return is_tree(agent) ? trees_->channel(agent, lane) : task_of(agent, lane).channel;
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    if (is_tree(agent)) { return trees_->target(agent, lane, out); }
    const auto [channel, duty, head, children] = task_of(agent, lane);
    const AgentId switches = engine(node(agent));
    const std::uint32_t place = groups_.place(agent.value);
    const std::uint32_t top = heads_.place(head);
    const std::uint32_t receiver = groups_.rank(node(agent), groups_.after(top, out.value));
    const AgentId of_head{groups_.rank(node(agent), top)};
    switch (duty) {
      case Duty::supply: return {switches, engine_lane(channel, false, head), PortId{groups_.distance(top, place)}};
      case Duty::reduce: return {of_head, head_lane(of_head.value, channel, false), PortId{0}};
      case Duty::up: return head_parent(agent, {channel, duty, head, children}, false);
      case Duty::down:
      case Duty::turn:
        if (out.value > 0) { return head_child(agent, {channel, duty, head, children}, out.value - 1, true); }
        return {switches, engine_lane(channel, true, head), PortId{0}};
      case Duty::multicast: return {AgentId{receiver}, gather_lane(receiver, channel, head), PortId{0}};
      case Duty::gather: break;
    }
    return {};
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    if (is_tree(agent)) { return trees_->source(agent, lane, in); }
    const auto [channel, duty, head, children] = task_of(agent, lane);
    const AgentId switches = engine(node(agent));
    const std::uint32_t place = groups_.place(agent.value);
    const std::uint32_t top = heads_.place(head);
    const std::uint32_t sender = groups_.rank(node(agent), groups_.after(top, in.value));
    const AgentId of_head{groups_.rank(node(agent), top)};
    switch (duty) {
      case Duty::reduce: return {AgentId{sender}, supply_lane(sender, channel, head), PortId{0}};
      case Duty::up:
      case Duty::turn:
        if (in.value > 0) { return head_child(agent, {channel, duty, head, children}, in.value - 1, false); }
        return {switches, engine_lane(channel, false, head), PortId{0}};
      case Duty::down: return head_parent(agent, {channel, duty, head, children}, true);
      case Duty::multicast: return {of_head, head_lane(of_head.value, channel, true), PortId{0}};
      case Duty::gather: return {switches, engine_lane(channel, true, head), PortId{groups_.distance(top, place)}};
      case Duty::supply: break;
    }
    return {};
  }
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t) const override {
    if (is_tree(agent)) { return trees_->at(agent, lane, loop, cut()); }
    const Task task = task_of(agent, lane);
    const ElementRange range = cut().piece(task.channel, loop, task.head);
    const PortCounts count = ports(task);
    Primitive primitive = over(range);
    primitive.receives = {0, count.in};
    primitive.sends = {0, count.out};
    if (task.duty == Duty::supply) { primitive.operands[0] = contiguous(Buffer::input, range.first); }
    if (task.duty == Duty::gather) { primitive.store = contiguous(Buffer::output, range.first); }
    primitive.finish = task.duty == Duty::turn || (task.duty == Duty::down && trees_);
    if (task.duty == Duty::up && trees_) {
      primitive.wait = outstanding_window(outstanding_, LaneId{lane.value + 1}, loop);
    }
    return primitive;
  }

  /// Of a layout with one loop.
  /// Every rank sends all of its data to the switches and the result of its piece once; a head sends its node's sum up,
  /// and in a binary tree the result to its children, whose sums it adds.
  Cost cost() const {
    Cost cost{4 + 2 * (trees_ ? trees_->depth() : binary_.depth()), Elements::zero(), Elements::zero()};
    for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
      Elements sent = collective().count;
      Elements reduced;
      const std::uint32_t place = groups_.place(rank);
      for (std::uint32_t channel = 0; channel < cut().channels() && heads_.is_head(place); ++channel) {
        const Elements piece = cut().piece(channel, 0, heads_.at(place)).count;
        const std::uint32_t below = children(groups_.node(rank), channel);
        sent += piece * (1 + below + (is_root(groups_.node(rank), channel) ? 0 : 1));
        reduced += piece * below;
      }
      cost.sent = std::max(cost.sent, sent);
      cost.reduced = std::max(cost.reduced, reduced);
    }
    return cost;
  }

 private:
  enum class Duty : std::uint8_t { supply, gather, reduce, multicast, up, down, turn };
  struct Task {
    std::uint32_t channel = 0;
    Duty duty = Duty::supply;
    std::uint32_t head = 0;      ///< by number
    std::uint32_t children = 0;  ///< of a head in a binary tree
  };
  struct PortCounts {
    std::uint32_t in = 0;
    std::uint32_t out = 0;
  };

  std::uint32_t group() const { return groups_.group; }
  bool is_tree(AgentId agent) const { return agent.value >= ranks() + groups_.nodes; }
  std::uint32_t node(AgentId agent) const { return is_rank(agent) ? groups_.node(agent.value) : agent.value - ranks(); }
  AgentId engine(std::uint32_t node) const { return AgentId{ranks() + node}; }
  bool is_root(std::uint32_t node, std::uint32_t channel) const {
    return !trees_ && binary_.is_root(channel % 2, node);
  }
  std::uint32_t children(std::uint32_t node, std::uint32_t channel) const {
    return trees_ ? 0 : binary_.children(channel % 2, node);
  }
  /// Lanes of a rank in a channel.
  std::uint32_t lanes_in(std::uint32_t rank, std::uint32_t channel) const {
    if (!heads_.is_head(groups_.place(rank))) { return 2 * heads_.count(); }
    return 2 * heads_.count() + (is_root(groups_.node(rank), channel) ? 1 : 2);
  }
  /// Of a rank: before the channel.
  std::uint32_t first_lane(std::uint32_t rank, std::uint32_t channel) const {
    return channel / 2 * (lanes_in(rank, 0) + lanes_in(rank, 1)) + channel % 2 * lanes_in(rank, 0);
  }
  LaneId supply_lane(std::uint32_t rank, std::uint32_t channel, std::uint32_t head) const {
    return LaneId{first_lane(rank, channel) + heads_.distance(groups_.place(rank), head)};
  }
  LaneId gather_lane(std::uint32_t rank, std::uint32_t channel, std::uint32_t head) const {
    return LaneId{supply_lane(rank, channel, head).value + heads_.count()};
  }
  LaneId head_lane(std::uint32_t rank, std::uint32_t channel, bool down) const {
    const bool second = down && !is_root(groups_.node(rank), channel);
    return LaneId{first_lane(rank, channel) + 2 * heads_.count() + (second ? 1 : 0)};
  }
  LaneId engine_lane(std::uint32_t channel, bool multicasts, std::uint32_t head) const {
    return LaneId{(2 * channel + (multicasts ? 1 : 0)) * heads_.count() + head};
  }
  Task task_of(AgentId agent, LaneId lane) const {
    const std::uint32_t h = heads_.count();
    if (!is_rank(agent)) {
      const bool multicasts = lane.value / h % 2 == 1;
      return {lane.value / (2 * h), multicasts ? Duty::multicast : Duty::reduce, lane.value % h, 0};
    }
    const std::uint32_t node = groups_.node(agent.value);
    const std::uint32_t place = groups_.place(agent.value);
    const std::uint32_t pair = lanes_in(agent.value, 0) + lanes_in(agent.value, 1);
    const bool second = lane.value % pair >= lanes_in(agent.value, 0);
    const std::uint32_t channel = lane.value / pair * 2 + (second ? 1 : 0);
    const std::uint32_t inside = lane.value - first_lane(agent.value, channel);
    if (inside < h) { return {channel, Duty::supply, heads_.after(place, inside), 0}; }
    if (inside < 2 * h) { return {channel, Duty::gather, heads_.after(place, inside - h), 0}; }
    const Duty duty = is_root(node, channel) ? Duty::turn : inside == 2 * h ? Duty::up : Duty::down;
    return {channel, duty, heads_.at(place), children(node, channel)};
  }
  PortCounts ports(const Task& task) const {
    switch (task.duty) {
      case Duty::supply: return {0, 1};
      case Duty::gather: return {1, 0};
      case Duty::reduce: return {group(), 1};
      case Duty::multicast: return {1, group()};
      case Duty::up: return {1 + task.children, 1};
      case Duty::down: return {1, 1 + task.children};
      case Duty::turn: return {1 + task.children, 1 + task.children};
    }
    return {};
  }
  Endpoint head_parent(AgentId agent, const Task& task, bool down) const {
    if (trees_) { return down ? trees_->exit(agent.value, task.channel) : trees_->entry(agent.value, task.channel); }
    const std::uint32_t tree = task.channel % 2;
    const std::uint32_t rank = groups_.rank(binary_.parent(tree, node(agent)), heads_.place(task.head));
    return {AgentId{rank}, head_lane(rank, task.channel, down), PortId{1 + binary_.index(tree, node(agent))}};
  }
  Endpoint head_child(AgentId agent, const Task& task, std::uint32_t child, bool down) const {
    const std::uint32_t below = binary_.child(task.channel % 2, node(agent), child);
    const std::uint32_t rank = groups_.rank(below, heads_.place(task.head));
    return {AgentId{rank}, head_lane(rank, task.channel, down), PortId{0}};
  }

  std::uint32_t outstanding_;  ///< of the layout's engines
  NodeGroups groups_;
  NodeHeads heads_;
  DoubleBinaryTree binary_;
  std::optional<RailTrees> trees_;
};

constexpr std::uint32_t kMostRanks =
    72;  // of one NVL72: NCCL has more than NCCL_MAX_NVLS_ARITY, 32, for all-reduce alone

Algorithm nvls_nodes_algorithm(NvlsAcross across) {
  const bool aggregates = across == NvlsAcross::aggregation_tree;
  return {
      .name = "",
      .kind = CollectiveKind::all_reduce,
      .summary = "",
      .engine = aggregates ? Engine::nvswitches_and_switches : Engine::nvswitches,
      .formula = "",
      .source = "",
      .explanation = "",
      .ranks = "nodes of equally many ranks, at least two nodes and at most 72 ranks of each (groups)",
      .fabrics = "",
      .pipelines = true,
      .make_for_many =
          [across](const Collective& collective, const Layout& layout) {
            return std::make_unique<NvlsNodesAllReduce>(collective, layout, across);
          },
      .granule_for_many =
          [across](const Collective& collective, const Layout& layout) {
            const NodeHeads heads(NodeGroups(collective.ranks, layout), layout);
            return VectorCut::granule(heads.count(), cut_layout(layout, across));
          },
      .cost_in_shape = [across](const Collective& collective,
                                const Layout& layout) { return NvlsNodesAllReduce(collective, layout, across).cost(); },
      .refuses_many = [aggregates](
                          const Collective& collective,
                          const Layout& layout) { return refuses_heads(collective, layout, kMostRanks, aggregates); },
  };
}

}  // namespace

Algorithm nvls_tree_all_reduce() {
  Algorithm algorithm = nvls_nodes_algorithm(NvlsAcross::double_binary_tree);
  algorithm.name = "nvls_tree";
  algorithm.summary =
      "NVSwitches add up inside the nodes, heads of one place across them along two binary trees, NVSwitches multicast";
  algorithm.formula =
      "4 alpha inside and 2 h alpha across, h = ceil(log2 of the nodes); with many chunks the greatest of (g+1)/g n "
      "beta "
      "on NVLink and 2 n/g beta on the network, for g ranks of a node";
  algorithm.source =
      "NCCL, src/device/all_reduce.h and src/graph/tuning.cc (NVLSTree); NVIDIA NVLink SHARP; the trees of "
      "double_binary_tree";
  algorithm.explanation =
      "The NVSwitches of a node add up what its ranks send and give each head, one per GPU, the sum of its piece. The "
      "heads of one place on all nodes reduce along a double binary tree, even channels along one tree and odd ones "
      "along the other, and the result goes back down. Each head sends it to the NVSwitches, which write it to all "
      "GPUs of the node. A NIC carries at most twice its GPU's share of the payload, however many nodes there are; "
      "latency grows with their logarithm.";
  algorithm.fabrics = "nodes with NVLink SHARP (H100 and later) and a NIC per GPU";
  return algorithm;
}

Algorithm nvls_sharp_all_reduce() {
  Algorithm algorithm = nvls_nodes_algorithm(NvlsAcross::aggregation_tree);
  algorithm.name = "nvls_sharp";
  algorithm.summary =
      "NVSwitches add up inside the nodes, switches of the network across them, NVSwitches multicast; NICs carry 1/g";
  algorithm.formula =
      "4 alpha inside and 2 h alpha across, h messages from a head to the top of its tree; with many chunks the "
      "greatest "
      "of (g+1)/g n beta on NVLink and n/g beta on the network, for g ranks of a node";
  algorithm.source =
      "NCCL, src/device/all_reduce.h and src/graph/tuning.cc (NVLS with CollNet); NVIDIA NVLink SHARP and SHARP";
  algorithm.explanation =
      "As nvls_tree inside the nodes; but a head sends the sum of its piece into the network, whose switches add up "
      "what the heads of its place send and multicast the result. A NIC carries its GPU's share of the payload once "
      "out and once in, half of what it does in nvls_tree, and latency grows with the levels of the network alone.";
  algorithm.fabrics = "nodes with NVLink SHARP and a NIC per GPU, on a network whose switches aggregate";
  return algorithm;
}

}  // namespace athanor
