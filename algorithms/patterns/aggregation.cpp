#include "algorithms/patterns/aggregation.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "sim/check.hpp"

namespace athanor {

Aggregation::Aggregation(const Collective& collective, const Layout& layout)
    : VectorSchedule(collective, 1, slices_as_chunks(layout)),
      outstanding_(layout.as<EngineTreeShape>().outstanding),
      forest_(aggregation_trees(collective.ranks, layout), collective.kind, collective.root, AgentId{collective.ranks}),
      most_ports_(forest_.widest()) {
  const std::uint32_t served = forest_[0].tree().ranks();
  require(served == ranks(), "an aggregation tree of {} ranks for {}", served, ranks());
}

std::uint32_t Aggregation::channels(AgentId agent) const {
  if (is_rank(agent)) { return cut().channels(); }
  return (cut().channels() + forest_.trees() - 1 - forest_.place(agent).tree) / forest_.trees();
}

/// A rank takes part in the same of all trees.
std::uint32_t Aggregation::lanes_per_channel(AgentId agent) const {
  if (is_top(agent)) { return 1; }
  const AggregationBranches::Part& mine = part(agent, channel_at(agent, 0));
  return (mine.up ? 1 : 0) + (mine.down ? 1 : 0);
}

Aggregation::Task Aggregation::task_of(AgentId agent, LaneId lane) const {
  if (is_top(agent)) { return {channel_at(agent, lane.value), Duty::turn}; }
  const std::uint32_t each = lanes_per_channel(agent);
  const bool up = part(agent, channel_at(agent, 0)).up && lane.value % each == 0;
  return {channel_at(agent, lane.value / each), up ? Duty::up : Duty::down};
}

LaneId Aggregation::lane_of(AgentId agent, std::uint32_t channel, Duty duty) const {
  const bool second = !is_top(agent) && duty == Duty::down && part(agent, channel).up;
  const std::uint32_t k = is_rank(agent) ? channel : channel / forest_.trees();
  return LaneId{k * lanes_per_channel(agent) + (second ? 1 : 0)};
}

std::uint32_t Aggregation::in_ports(AgentId agent, Duty duty) const {
  if (duty == Duty::down) { return 1; }
  if (is_rank(agent)) { return 0; }
  const auto [tree, node] = forest_.place(agent);
  return forest_[tree].ups(node);
}

std::uint32_t Aggregation::out_ports(AgentId agent, Duty duty) const {
  if (duty == Duty::up) { return 1; }
  if (is_rank(agent)) { return 0; }
  const auto [tree, node] = forest_.place(agent);
  return forest_[tree].downs(node);
}

Lane Aggregation::lane(AgentId agent, LaneId lane) const {
  const Task task = task_of(agent, lane);
  const std::uint32_t in = in_ports(agent, task.duty);
  const std::uint32_t out = out_ports(agent, task.duty);
  std::uint32_t duty = static_cast<std::uint32_t>(task.duty) + (is_rank(agent) ? 0 : 2);  // a rank turns nothing
  if (has_window(agent, task)) { duty = 5; }
  const std::uint32_t role = (duty * (most_ports_ + 2) + in) * (most_ports_ + 2) + out;
  return {1, cut().loops(task.channel), in, out, ProgramId{2 * role + cut().shape(task.channel)}};
}

Endpoint Aggregation::target(AgentId agent, LaneId lane, PortId out) const {
  const Task task = task_of(agent, lane);
  if (task.duty == Duty::up) {
    const AgentId node = above(agent, task.channel);
    return {node, lane_of(node, task.channel, Duty::up), PortId{part(agent, task.channel).up_port}};
  }
  const auto [tree, node] = forest_.place(agent);
  const AgentId below = agent_of(tree, forest_[tree].child_down(node, out.value));
  return {below, lane_of(below, task.channel, Duty::down), PortId{0}};
}

Endpoint Aggregation::source(AgentId agent, LaneId lane, PortId in) const {
  const Task task = task_of(agent, lane);
  if (task.duty == Duty::down) {
    const AgentId node = above(agent, task.channel);
    return {node, lane_of(node, task.channel, Duty::down), PortId{part(agent, task.channel).down_port}};
  }
  const auto [tree, node] = forest_.place(agent);
  const AgentId below = agent_of(tree, forest_[tree].child_up(node, in.value));
  return {below, lane_of(below, task.channel, Duty::up), PortId{0}};
}

Primitive Aggregation::at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t) const {
  const Task task = task_of(agent, lane);
  const Piece range = cut().piece(task.channel, loop, 0);
  Primitive primitive = over(range);
  primitive.receives = {0, in_ports(agent, task.duty)};
  primitive.sends = {0, out_ports(agent, task.duty)};
  if (has_window(agent, task)) { primitive.wait = outstanding_window(outstanding_, LaneId{lane.value + 1}, loop); }
  if (!is_rank(agent) || collective().kind == CollectiveKind::barrier) { return primitive; }
  const bool broadcasts = collective().kind == CollectiveKind::broadcast;
  if (task.duty == Duty::up) { primitive.operands[0] = contiguous(Buffer::input, range.first); }
  const bool copies = broadcasts && task.duty == Duty::up && !collective().in_place;
  if (task.duty == Duty::down || copies) { primitive.store = contiguous(Buffer::output, range.first); }
  primitive.finish = task.duty == Duty::down && !broadcasts;
  return primitive;
}

namespace {

std::optional<std::string> refuses(const Collective& collective, const Layout& layout) {
  for (const auto& tree : layout.as<EngineTreeShape>().trees) {
    if (tree->ranks() == collective.ranks) { continue; }
    return fmt::format("an aggregation tree has {} ranks, and the collective {}", tree->ranks(), collective.ranks);
  }
  return {};
}

/// Every rank sends its vector once. Engines add.
Cost cost(const Collective& collective, const Layout& layout) {
  const auto tree = aggregation_trees(collective.ranks, layout).front();
  const std::uint32_t deepest = tree->depth();
  std::uint32_t others = 0;
  for (std::uint32_t rank = 0; rank < collective.ranks; ++rank) {
    if (rank != collective.root) { others = std::max(others, tree->depth(rank)); }
  }
  const std::uint32_t root = tree->depth(collective.root);
  switch (collective.kind) {
    case CollectiveKind::broadcast: return {root + others, collective.count, Elements::zero()};
    case CollectiveKind::reduce: return {deepest + root, collective.count, Elements::zero()};
    default: return {2 * deepest, collective.count, Elements::zero()};
  }
}

}  // namespace

Algorithm aggregation_algorithm(CollectiveKind kind) {
  return {
      .name = "aggregation_tree",
      .kind = kind,
      .summary = "",
      .engine = Engine::switches,
      .formula = "",
      .source =
          "Graham et al., Scalable Hierarchical Aggregation Protocol (SHArP): A Hardware Architecture for Efficient "
          "Data Reduction, COMHPC 2016",
      .explanation = "",
      .ranks = "any number of ranks",
      .fabrics = "switches that aggregate",
      .make_for_many = make_schedule<Aggregation>,
      .granule_for_many = granule_of_whole,
      .cost_in_shape = cost,
      .refuses_many = refuses,
  };
}

}  // namespace athanor
