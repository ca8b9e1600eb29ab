#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "algorithms/patterns/aggregation_forest.hpp"
#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

namespace {

/// How the ranks of a node bring their shares to its heads, and results back.
enum class CollNetPath : std::uint8_t {
  direct,  ///< everyone sends each head its piece, and each head sends the result of its piece to everyone
  chain,   ///< each head's piece passes through all ranks of the node, which add; its result goes back the same way
};

std::vector<std::vector<std::uint32_t>> chains_of(const Layout& layout, CollNetPath path) {
  if (path != CollNetPath::chain || !layout.orders) { return {}; }
  return layout.orders->even;
}

std::vector<std::vector<std::uint32_t>> inverse(const std::vector<std::vector<std::uint32_t>>& chains) {
  std::vector<std::vector<std::uint32_t>> steps = chains;
  for (std::size_t chain = 0; chain < chains.size(); ++chain) {
    for (std::uint32_t step = 0; step < chains[chain].size(); ++step) { steps[chain][chains[chain][step]] = step; }
  }
  return steps;
}

/// Heads that a channel serves.
std::uint32_t width_of(const Collective& collective, const Layout& layout, CollNetPath path) {
  return chains_of(layout, path).empty() ? NodeHeads(NodeGroups(collective.ranks, layout), layout).count() : 1;
}

/// By channel, where each has one chain.
std::vector<std::uint32_t> owners_of(const std::vector<std::vector<std::uint32_t>>& chains, const NodeHeads& heads,
                                     std::uint32_t channels) {
  std::vector<std::uint32_t> owners;
  for (std::uint32_t channel = 0; channel < channels && !chains.empty(); ++channel) {
    owners.push_back(heads.at(chains[channel % chains.size()].front()));
  }
  return owners;
}

/// All-reduce over nodes whose heads are joined by aggregation trees of the network, one per head. In the node a head
/// gets the sum of its piece; its tree adds up the nodes' sums and multicasts the result, which the head spreads. Every
/// head has a piece of each chunk; but where chains have orders (Layout::orders), each channel has one chain, which
/// ends at its first place, and all of its chunks belong to that head.
///
/// Per channel a rank has W lanes up and W down, for W chains or heads; those numbered j belong to the head j after it
/// (NodeHeads). What is up at a distance d from its head comes, in a chain, from the rank at d + 1, and goes to the one
/// at d - 1, and directly to the head at once; down the other way round. At distance 0 a rank speaks with the network.
class CollNetAllReduce final : public VectorSchedule {
 public:
  CollNetAllReduce(const Collective& collective, const Layout& layout, CollNetPath path)
      : VectorSchedule(collective, width_of(collective, layout, path), slices_as_chunks(layout)),
        outstanding_(layout.as<EngineTreeShape>().outstanding),
        path_(path),
        groups_(collective.ranks, layout),
        heads_(groups_, layout),
        chains_(chains_of(layout, path)),
        steps_(inverse(chains_)),
        trees_(groups_, layout, AgentId{collective.ranks}, {2 * width(), 0, width()},
               owners_of(chains_, heads_, cut().channels())) {}

  AgentCount agent_count() const override { return {ranks(), trees_.end()}; }
  std::uint32_t lanes(AgentId agent) const override {
    return is_rank(agent) ? cut().channels() * 2 * width() : trees_.lanes(agent, cut());
  }
  Lane lane(AgentId agent, LaneId lane) const override {
    const std::uint32_t own_programs = 2 * 2 * 4;
    if (!is_rank(agent)) { return trees_.lane(agent, lane, cut(), own_programs); }
    const Task task = task_of(agent, lane);
    const std::uint32_t outer = outer_ports(task);
    const std::uint32_t role = (task.down ? 4 : 0) + (task.distance == 0 ? 2 : 0) + (outer > 0 ? 1 : 0);
    return {1, cut().loops(task.channel), task.down ? 1 : outer, task.down ? outer : 1,
            ProgramId{2 * role + cut().shape(task.channel)}};
  }
  std::uint32_t channel(AgentId agent, LaneId lane) const override {
    return is_rank(agent) ? task_of(agent, lane).channel : trees_.channel(agent, lane);
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    if (!is_rank(agent)) { return trees_.target(agent, lane, out); }
    const Task task = task_of(agent, lane);
    return task.down ? outer_end(agent, task, out.value) : inner_end(agent, task);
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    if (!is_rank(agent)) { return trees_.source(agent, lane, in); }
    const Task task = task_of(agent, lane);
    return task.down ? inner_end(agent, task) : outer_end(agent, task, in.value);
  }
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t) const override {
    if (!is_rank(agent)) { return trees_.at(agent, lane, loop, cut()); }
    const Task task = task_of(agent, lane);
    const ElementRange range = cut().piece(task.channel, loop, piece(task));
    const Ports outer{0, outer_ports(task)};
    Primitive primitive = over(range);
    primitive.receives = task.down ? Ports{0, 1} : outer;
    primitive.sends = task.down ? outer : Ports{0, 1};
    if (task.down) {
      primitive.store = contiguous(Buffer::output, range.first);
      primitive.finish = task.distance == 0;
    } else {
      primitive.operands[0] = contiguous(Buffer::input, range.first);
      if (task.distance == 0) { primitive.wait = outstanding_window(outstanding_, LaneId{lane.value + width()}, loop); }
    }
    return primitive;
  }

  /// Of a layout with one loop.
  /// Up, everyone sends its share of each piece once. Directly, a head sends its result to all others; in a chain,
  /// everyone sends on all results but those at whose chain's end it is.
  Cost cost() const {
    const std::uint32_t g = group();
    Elements most;
    for (std::uint32_t place = 0; place < g; ++place) { most = std::max(most, spread(place)); }
    Cost cost;
    cost.steps = 2 * trees_.depth() + (path_ == CollNetPath::direct ? (g > 1 ? 2 : 0) : 2 * (g - 1));
    cost.sent = collective().count + most;
    cost.reduced = most;
    return cost;
  }

 private:
  struct Task {
    std::uint32_t channel = 0;
    bool down = false;
    std::uint32_t head = 0;      ///< by number
    std::uint32_t distance = 0;  ///< from the head to the rank: places, backwards, or steps of its chain
  };

  std::uint32_t group() const { return groups_.group; }
  /// Pieces of a chunk: heads that a channel serves.
  std::uint32_t width() const { return chains_.empty() ? heads_.count() : 1; }
  std::uint32_t piece(const Task& task) const { return chains_.empty() ? task.head : 0; }
  Task task_of(AgentId agent, LaneId lane) const {
    const std::uint32_t inside = lane.value % (2 * width());
    const std::uint32_t place = groups_.place(agent.value);
    Task task{lane.value / (2 * width()), inside >= width(), 0, 0};
    task.head = chains_.empty() ? heads_.after(place, inside % width())
                                : heads_.at(chains_[task.channel % chains_.size()].front());
    task.distance = distance(task.channel, task.head, place);
    return task;
  }
  LaneId lane_of(const Task& task, std::uint32_t place) const {
    const std::uint32_t inside = chains_.empty() ? heads_.distance(place, task.head) : 0;
    return LaneId{task.channel * 2 * width() + (task.down ? width() : 0) + inside};
  }
  std::uint32_t distance(std::uint32_t channel, std::uint32_t head, std::uint32_t place) const {
    if (chains_.empty()) { return groups_.distance(place, heads_.place(head)); }
    return steps_[channel % steps_.size()][place];
  }
  /// The same task where it is at another distance: lane and port.
  Endpoint at_distance(AgentId agent, const Task& task, std::uint32_t distance, PortId port) const {
    const std::uint32_t place = chains_.empty() ? groups_.after(heads_.place(task.head), group() - distance)
                                                : chains_[task.channel % chains_.size()][distance];
    return {AgentId{groups_.rank(groups_.node(agent.value), place)}, lane_of(task, place), port};
  }
  /// Towards the head, or away from it: the lane's ports inside the node.
  /// Directly, only the head has some, one for each other rank; in a chain, all but the end that is farthest from it.
  std::uint32_t outer_ports(const Task& task) const {
    if (path_ == CollNetPath::direct) { return task.distance == 0 ? group() - 1 : 0; }
    return task.distance + 1 < group() ? 1 : 0;
  }
  /// Away from the head.
  Endpoint outer_end(AgentId agent, const Task& task, std::uint32_t port) const {
    return at_distance(agent, task, path_ == CollNetPath::direct ? port + 1 : task.distance + 1, PortId{0});
  }
  /// Towards the head, and from it into the network.
  Endpoint inner_end(AgentId agent, const Task& task) const {
    if (task.distance == 0) {
      return task.down ? trees_.exit(agent.value, task.channel) : trees_.entry(agent.value, task.channel);
    }
    if (path_ == CollNetPath::direct) { return at_distance(agent, task, 0, PortId{task.distance - 1}); }
    return at_distance(agent, task, task.distance - 1, PortId{0});
  }
  /// What a rank at that place sends down, of all.
  Elements spread(std::uint32_t place) const {
    Elements sent;
    for (std::uint32_t channel = 0; channel < cut().channels(); ++channel) {
      for (std::uint32_t j = 0; j < width(); ++j) {
        const Task task = task_of(AgentId{place}, LaneId{channel * 2 * width() + j});
        sent += cut().piece(channel, 0, piece(task)).count * outer_ports(task);
      }
    }
    return sent;
  }

  std::uint32_t outstanding_;  ///< of the layout's engines
  CollNetPath path_;
  NodeGroups groups_;
  NodeHeads heads_;
  std::vector<std::vector<std::uint32_t>> chains_;  ///< of chains with orders: places, the head first
  std::vector<std::vector<std::uint32_t>> steps_;   ///< by chain and place: the place's step in its chain
  RailTrees trees_;
};

constexpr std::uint32_t kMostRanks = 8;  // of a node, with NCCL's CollNetDirect and CollNetChain

std::optional<std::string> refuses_chains(const Collective& collective, const Layout& layout, CollNetPath path) {
  if (auto reason = refuses_heads(collective, layout, kMostRanks, true)) { return reason; }
  const NodeGroups groups(collective.ranks, layout);
  const NodeHeads heads(groups, layout);
  for (const std::vector<std::uint32_t>& chain : chains_of(layout, path)) {
    if (chain.size() != groups.group) {
      return fmt::format("a chain has {} places, and a node {} ranks", chain.size(), groups.group);
    }
    if (heads.is_head(chain.front())) { continue; }
    return fmt::format("a chain ends at place {}, which is no head", chain.front());
  }
  return std::nullopt;
}

Algorithm collnet_algorithm(CollNetPath path) {
  return {
      .name = "",
      .kind = CollectiveKind::all_reduce,
      .summary = "",
      .engine = Engine::switches_per_head,
      .formula = "",
      .source =
          "NCCL, src/device/all_reduce.h and src/graph/tuning.cc (CollNet); NVIDIA SHARP, nccl-rdma-sharp-plugins",
      .explanation = "",
      .ranks = "nodes of equally many ranks, at least two nodes and at most eight ranks of each (groups)",
      .fabrics = "nodes with a NIC per GPU on a network whose switches aggregate",
      .pipelines = true,
      .make_for_many =
          [path](const Collective& collective, const Layout& layout) {
            return std::make_unique<CollNetAllReduce>(collective, layout, path);
          },
      .granule_for_many =
          [path](const Collective& collective, const Layout& layout) {
            return VectorCut::granule(width_of(collective, layout, path), layout);
          },
      .cost_in_shape = [path](const Collective& collective,
                              const Layout& layout) { return CollNetAllReduce(collective, layout, path).cost(); },
      .refuses_many = [path](const Collective& collective,
                             const Layout& layout) { return refuses_chains(collective, layout, path); },
  };
}

}  // namespace

Algorithm collnet_direct_all_reduce() {
  Algorithm algorithm = collnet_algorithm(CollNetPath::direct);
  algorithm.name = "collnet_direct";
  algorithm.summary =
      "each GPU of a node adds up one piece; switches of the network add up across nodes; each GPU spreads its piece";
  algorithm.formula =
      "2 alpha inside and 2 h alpha across, h messages from a head to the top of its tree; with many chunks the "
      "greatest "
      "of 2(g-1)/g n beta inside and n/g beta on the network, and (g-1)/g n gamma, for g ranks of a node";
  algorithm.explanation =
      "Every rank of a node is the head of one piece: all others send it their shares, and it adds them up. The head "
      "sends the sum into the network, whose switches add up what the heads of its place on all nodes send and "
      "multicast the result, which the head sends to all ranks of its node. Two messages inside, however many ranks.";
  return algorithm;
}

Algorithm collnet_chain_all_reduce() {
  Algorithm algorithm = collnet_algorithm(CollNetPath::chain);
  algorithm.name = "collnet_chain";
  algorithm.summary =
      "chains through each node add up, one ending at each GPU; switches of the network add up across nodes; and back";
  algorithm.formula =
      "2(g-1) alpha inside and 2 h alpha across, h messages from a head to the top of its tree; with many chunks the "
      "greatest of 2(g-1)/g n beta inside and n/g beta on the network, and (g-1)/g n gamma, for g ranks of a node";
  algorithm.explanation =
      "A chain through the ranks of a node adds up a piece on its way to the head of that piece; each rank is the head "
      "of one, so that there are as many chains as ranks, and every NIC is used. Where a library's orders are known, "
      "each "
      "channel has one chain, in its order, and belongs to the head at its end, as NCCL does it. "
      "The head sends the sum into the network, whose switches add up what the heads of its place on all nodes send "
      "and multicast the result, which goes back along the chain.";
  return algorithm;
}

}  // namespace athanor
