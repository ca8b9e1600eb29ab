#include "algorithms/patterns/tree_all_reduce.hpp"

#include <algorithm>

namespace athanor {

namespace {

/// Both trees need a channel, but for one group, or where the channels' orders say which tree each takes.
Layout cut_layout(const Collective& collective, const Layout& layout) {
  Layout result = slices_as_chunks(layout);
  const bool one_group = layout.group == 0 || layout.group == collective.ranks;
  if (!one_group && layout.orders == nullptr) { result.channels += result.channels % 2; }
  return result;
}

}  // namespace

TreeAllReduce::TreeAllReduce(const Collective& collective, const Layout& layout)
    : VectorSchedule(collective, 1, cut_layout(collective, layout)), trees_(collective.ranks, layout) {
  for (std::uint32_t channel = 0; channel < cut().channels(); ++channel) { roots_.push_back(trees_.root(channel)); }
}

Elements TreeAllReduce::granule(const Collective& collective, const Layout& layout) {
  return VectorCut::granule(1, cut_layout(collective, layout));
}

std::uint32_t TreeAllReduce::first_lane(std::uint32_t rank, std::uint32_t channel) const {
  if (!trees_.in_root_group(rank)) { return 2 * channel; }
  const auto as_root = std::count(roots_.begin(), roots_.begin() + channel, rank);
  return 2 * channel - static_cast<std::uint32_t>(as_root);
}

LaneId TreeAllReduce::lane_of(std::uint32_t rank, std::uint32_t channel, Duty duty) const {
  return LaneId{first_lane(rank, channel) + (duty == Duty::down && !is_root(rank, channel) ? 1 : 0)};
}

TreeAllReduce::Task TreeAllReduce::task_of(std::uint32_t rank, LaneId lane) const {
  std::uint32_t channel = lane.value / 2;
  while (first_lane(rank, channel) + (is_root(rank, channel) ? 1 : 2) <= lane.value) { ++channel; }
  if (is_root(rank, channel)) { return {channel, Duty::turn}; }
  return {channel, lane.value == first_lane(rank, channel) ? Duty::up : Duty::down};
}

Lane TreeAllReduce::lane(AgentId agent, LaneId lane) const {
  const Task task = task_of(agent.value, lane);
  const std::uint32_t children = trees_.children(task.channel, agent.value);
  const std::uint32_t role = 4 * static_cast<std::uint32_t>(task.duty) + children;
  const std::uint32_t ins = task.duty == Duty::down ? 1 : children;
  const std::uint32_t outs = task.duty == Duty::up ? 1 : children;
  return {1, cut().loops(task.channel), ins, outs, ProgramId{12 * cut().shape(task.channel) + role}};
}

Endpoint TreeAllReduce::at_parent(const Task& task, std::uint32_t rank) const {
  const std::uint32_t parent = trees_.parent(task.channel, rank);
  return {AgentId{parent}, lane_of(parent, task.channel, task.duty), PortId{trees_.index(task.channel, rank)}};
}

Endpoint TreeAllReduce::at_child(const Task& task, std::uint32_t rank, PortId port, Duty duty) const {
  const std::uint32_t child = trees_.child(task.channel, rank, port.value);
  return {AgentId{child}, lane_of(child, task.channel, duty), PortId{0}};
}

Endpoint TreeAllReduce::target(AgentId agent, LaneId lane, PortId out) const {
  const Task task = task_of(agent.value, lane);
  return task.duty == Duty::up ? at_parent(task, agent.value) : at_child(task, agent.value, out, Duty::down);
}

Endpoint TreeAllReduce::source(AgentId agent, LaneId lane, PortId in) const {
  const Task task = task_of(agent.value, lane);
  return task.duty == Duty::down ? at_parent(task, agent.value) : at_child(task, agent.value, in, Duty::up);
}

Primitive TreeAllReduce::at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t) const {
  const Task task = task_of(agent.value, lane);
  const Piece range = cut().piece(task.channel, loop, 0);
  const std::uint32_t children = trees_.children(task.channel, agent.value);
  Primitive primitive = over(range);
  primitive.receives = {0, task.duty == Duty::down ? 1 : children};
  primitive.sends = {0, task.duty == Duty::up ? 1 : children};
  if (task.duty != Duty::down) { primitive.operands[0] = contiguous(Buffer::input, range.first); }
  if (task.duty != Duty::up) { primitive.store = contiguous(Buffer::output, range.first); }
  primitive.finish = task.duty == Duty::turn;
  return primitive;
}

Cost TreeAllReduce::cost() const {
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

}  // namespace athanor
