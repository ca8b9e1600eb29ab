#include "algorithms/patterns/collnet.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace athanor {

namespace {

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

}  // namespace

CollNetAllReduce::CollNetAllReduce(const Collective& collective, const Layout& layout, CollNetPath path)
    : VectorSchedule(collective, width_of(collective, layout, path), slices_as_chunks(layout)),
      outstanding_(layout.as<EngineTreeShape>().outstanding),
      path_(path),
      groups_(collective.ranks, layout),
      heads_(groups_, layout),
      chains_(chains_of(layout, path)),
      steps_(inverse(chains_)),
      trees_(groups_, layout, AgentId{collective.ranks}, {2 * width(), 0, width()},
             owners_of(chains_, heads_, cut().channels())) {}

std::uint32_t CollNetAllReduce::lanes(AgentId agent) const {
  return is_rank(agent) ? cut().channels() * 2 * width() : trees_.lanes(agent, cut());
}

std::uint32_t CollNetAllReduce::distance(std::uint32_t channel, std::uint32_t head, std::uint32_t place) const {
  if (chains_.empty()) { return groups_.distance(place, heads_.place(head)); }
  return steps_[channel % steps_.size()][place];
}

CollNetAllReduce::Task CollNetAllReduce::task_of(AgentId agent, LaneId lane) const {
  const std::uint32_t inside = lane.value % (2 * width());
  const std::uint32_t place = groups_.place(agent.value);
  Task task{lane.value / (2 * width()), inside >= width(), 0, 0};
  task.head = chains_.empty() ? heads_.after(place, inside % width())
                              : heads_.at(chains_[task.channel % chains_.size()].front());
  task.distance = distance(task.channel, task.head, place);
  return task;
}

LaneId CollNetAllReduce::lane_of(const Task& task, std::uint32_t place) const {
  const std::uint32_t inside = chains_.empty() ? heads_.distance(place, task.head) : 0;
  return LaneId{task.channel * 2 * width() + (task.down ? width() : 0) + inside};
}

/// Directly, only the head has some, one for each other rank; in a chain, all but the end that is farthest from it.
std::uint32_t CollNetAllReduce::outer_ports(const Task& task) const {
  if (path_ == CollNetPath::direct) { return task.distance == 0 ? group() - 1 : 0; }
  return task.distance + 1 < group() ? 1 : 0;
}

Lane CollNetAllReduce::lane(AgentId agent, LaneId lane) const {
  const std::uint32_t own_programs = 2 * 2 * 4;
  if (!is_rank(agent)) { return trees_.lane(agent, lane, cut(), own_programs); }
  const Task task = task_of(agent, lane);
  const std::uint32_t outer = outer_ports(task);
  const std::uint32_t role = (task.down ? 4 : 0) + (task.distance == 0 ? 2 : 0) + (outer > 0 ? 1 : 0);
  return {1, cut().loops(task.channel), task.down ? 1 : outer, task.down ? outer : 1,
          ProgramId{2 * role + cut().shape(task.channel)}};
}

std::uint32_t CollNetAllReduce::channel(AgentId agent, LaneId lane) const {
  return is_rank(agent) ? task_of(agent, lane).channel : trees_.channel(agent, lane);
}

Endpoint CollNetAllReduce::at_distance(AgentId agent, const Task& task, std::uint32_t distance, PortId port) const {
  const std::uint32_t place = chains_.empty() ? groups_.after(heads_.place(task.head), group() - distance)
                                              : chains_[task.channel % chains_.size()][distance];
  return {AgentId{groups_.rank(groups_.node(agent.value), place)}, lane_of(task, place), port};
}

/// Away from the head.
Endpoint CollNetAllReduce::outer_end(AgentId agent, const Task& task, std::uint32_t port) const {
  return at_distance(agent, task, path_ == CollNetPath::direct ? port + 1 : task.distance + 1, PortId{0});
}

/// Towards the head, and from it into the network.
Endpoint CollNetAllReduce::inner_end(AgentId agent, const Task& task) const {
  if (task.distance == 0) {
    return task.down ? trees_.exit(agent.value, task.channel) : trees_.entry(agent.value, task.channel);
  }
  if (path_ == CollNetPath::direct) { return at_distance(agent, task, 0, PortId{task.distance - 1}); }
  return at_distance(agent, task, task.distance - 1, PortId{0});
}

Endpoint CollNetAllReduce::target(AgentId agent, LaneId lane, PortId out) const {
  if (!is_rank(agent)) { return trees_.target(agent, lane, out); }
  const Task task = task_of(agent, lane);
  return task.down ? outer_end(agent, task, out.value) : inner_end(agent, task);
}

Endpoint CollNetAllReduce::source(AgentId agent, LaneId lane, PortId in) const {
  if (!is_rank(agent)) { return trees_.source(agent, lane, in); }
  const Task task = task_of(agent, lane);
  return task.down ? inner_end(agent, task) : outer_end(agent, task, in.value);
}

Primitive CollNetAllReduce::at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t) const {
  if (!is_rank(agent)) { return trees_.at(agent, lane, loop, cut()); }
  const Task task = task_of(agent, lane);
  const Piece range = cut().piece(task.channel, loop, piece(task));
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

Elements CollNetAllReduce::spread(std::uint32_t place) const {
  Elements sent;
  for (std::uint32_t channel = 0; channel < cut().channels(); ++channel) {
    for (std::uint32_t j = 0; j < width(); ++j) {
      const Task task = task_of(AgentId{place}, LaneId{channel * 2 * width() + j});
      sent += cut().piece(channel, 0, piece(task)).count * outer_ports(task);
    }
  }
  return sent;
}

/// Up, everyone sends its share of each piece once. Directly, a head sends its result to all others; in a chain,
/// everyone sends on all results but those at whose chain's end it is.
Cost CollNetAllReduce::cost() const {
  const std::uint32_t g = group();
  Elements most;
  for (std::uint32_t place = 0; place < g; ++place) { most = std::max(most, spread(place)); }
  Cost cost;
  cost.steps = 2 * trees_.depth() + (path_ == CollNetPath::direct ? (g > 1 ? 2 : 0) : 2 * (g - 1));
  cost.sent = collective().count + most;
  cost.reduced = most;
  return cost;
}

namespace {

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

}  // namespace

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

}  // namespace athanor
