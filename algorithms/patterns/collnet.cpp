#include "algorithms/patterns/collnet.hpp"

#include <algorithm>

namespace athanor {

CollNetAllReduce::CollNetAllReduce(const Collective& collective, const Layout& layout, CollNetWay way)
    : collective_(collective),
      layout_(layout),
      way_(way),
      groups_(collective.ranks, layout),
      cut_(collective.count, groups_.group, slices_as_chunks(layout)),
      trees_(groups_, layout, AgentId{collective.ranks}, {2 * groups_.group, 0, groups_.group}) {}

std::uint32_t CollNetAllReduce::lanes(AgentId agent) const {
  return is_rank(agent) ? cut_.channels() * 2 * group() : trees_.lanes(agent, cut_);
}

CollNetAllReduce::Task CollNetAllReduce::task_of(LaneId lane) const {
  const std::uint32_t inside = lane.value % (2 * group());
  return {lane.value / (2 * group()), inside >= group(), inside % group()};
}

/// Directly, only the head has some, one for each other rank; in a chain, all but the end that is farthest from it.
std::uint32_t CollNetAllReduce::outer_ports(const Task& task) const {
  if (way_ == CollNetWay::direct) { return task.places == 0 ? group() - 1 : 0; }
  return task.places + 1 < group() ? 1 : 0;
}

Lane CollNetAllReduce::lane(AgentId agent, LaneId lane) const {
  const std::uint32_t own_programs = 2 * 2 * 4;
  if (!is_rank(agent)) { return trees_.lane(agent, lane, cut_, own_programs); }
  const Task task = task_of(lane);
  const std::uint32_t outer = outer_ports(task);
  const std::uint32_t role = (task.down ? 4 : 0) + (task.places == 0 ? 2 : 0) + (outer > 0 ? 1 : 0);
  return {1, cut_.loops(task.channel), task.down ? 1 : outer, task.down ? outer : 1,
          ProgramId{2 * role + cut_.shape(task.channel)}};
}

Memory CollNetAllReduce::memory(AgentId agent) const {
  if (!is_rank(agent)) { return {}; }
  return {collective_.count, collective_.count, Elements::zero(),
          collective_.in_place ? std::optional<std::int64_t>{0} : std::nullopt};
}

std::uint32_t CollNetAllReduce::neighbour(AgentId agent, std::uint32_t places_after) const {
  return groups_.rank(groups_.node(agent.value), groups_.after(groups_.place(agent.value), places_after));
}

/// Away from the head.
Endpoint CollNetAllReduce::outer_end(AgentId agent, const Task& task, std::uint32_t port) const {
  const std::uint32_t farther = way_ == CollNetWay::direct ? port + 1 : 1;
  return {AgentId{neighbour(agent, group() - farther)}, lane_of(task.channel, task.down, task.places + farther),
          PortId{0}};
}

/// Towards the head, and from it into the network.
Endpoint CollNetAllReduce::inner_end(AgentId agent, const Task& task) const {
  if (task.places == 0) {
    return task.down ? trees_.exit(agent.value, task.channel) : trees_.entry(agent.value, task.channel);
  }
  const std::uint32_t nearer = way_ == CollNetWay::direct ? task.places : 1;
  return {AgentId{neighbour(agent, nearer)}, lane_of(task.channel, task.down, task.places - nearer),
          PortId{way_ == CollNetWay::direct ? task.places - 1 : 0}};
}

Endpoint CollNetAllReduce::target(AgentId agent, LaneId lane, PortId out) const {
  if (!is_rank(agent)) { return trees_.target(agent, lane, out); }
  const Task task = task_of(lane);
  return task.down ? outer_end(agent, task, out.value) : inner_end(agent, task);
}

Endpoint CollNetAllReduce::source(AgentId agent, LaneId lane, PortId in) const {
  if (!is_rank(agent)) { return trees_.source(agent, lane, in); }
  const Task task = task_of(lane);
  return task.down ? inner_end(agent, task) : outer_end(agent, task, in.value);
}

Primitive CollNetAllReduce::at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t) const {
  if (!is_rank(agent)) { return trees_.at(agent, lane, loop, cut_); }
  const Task task = task_of(lane);
  const std::uint32_t head = groups_.after(groups_.place(agent.value), task.places);
  const Piece range = cut_.piece(task.channel, loop, head);
  const Ports outer{0, outer_ports(task)};
  Primitive primitive;
  primitive.count = range.count;
  primitive.receives = task.down ? Ports{0, 1} : outer;
  primitive.sends = task.down ? outer : Ports{0, 1};
  if (task.down) {
    primitive.store = contiguous(Buffer::output, range.first);
    primitive.finish = task.places == 0;
  } else {
    primitive.operands[0] = contiguous(Buffer::input, range.first);
    if (task.places == 0) { primitive.wait = outstanding_window(layout_, LaneId{lane.value + group()}, loop); }
  }
  return primitive;
}

/// Up, everyone sends its share of each piece once. Directly, a head sends its result to all others; in a chain,
/// everyone sends on all results but that of the head before it, at whose chain's end it is.
Cost CollNetAllReduce::cost() const {
  const std::uint32_t g = group();
  Cost cost;
  cost.steps = 2 * trees_.depth() + (way_ == CollNetWay::direct ? (g > 1 ? 2 : 0) : 2 * (g - 1));
  const Elements most = cut_.piece(0, 0, 0).count;
  const Elements least = cut_.piece(0, 0, g - 1).count;
  const Elements spread = way_ == CollNetWay::direct ? most * (g - 1) : collective_.count - least;
  cost.sent = collective_.count + spread;
  cost.reduced = spread;
  return cost;
}

namespace {

constexpr std::uint32_t kMostHeads = 8;  // of NCCL's CollNetDirect and CollNetChain

}  // namespace

Algorithm collnet_algorithm(CollNetWay way) {
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
          [way](const Collective& collective, const Layout& layout) {
            return std::make_unique<CollNetAllReduce>(collective, layout, way);
          },
      .granule_for_many =
          [](const Collective& collective, const Layout& layout) {
            return VectorCut::granule(NodeGroups(collective.ranks, layout).group, layout);
          },
      .cost_in_shape = [way](const Collective& collective,
                             const Layout& layout) { return CollNetAllReduce(collective, layout, way).cost(); },
      .refuses_many = [](const Collective& collective,
                         const Layout& layout) { return refuses_heads(collective, layout, kMostHeads, true); },
  };
}

}  // namespace athanor
