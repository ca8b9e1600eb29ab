#include "algorithms/patterns/aggregation.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/check.hpp"

namespace athanor {

Aggregation::Aggregation(const Collective& collective, const Layout& layout)
    : collective_(collective),
      tree_(aggregation_tree(collective.ranks, layout)),
      cut_(collective.count, 1, slices_as_chunks(layout)),
      parts_(ranks() + tree_->nodes()),
      ups_(tree_->nodes()),
      downs_(tree_->nodes()),
      leads_to_root_(tree_->nodes()) {
  require(tree_->ranks() == ranks(), "an aggregation tree of {} ranks for {}", tree_->ranks(), ranks());
  leads_to_root_[AggregationTree::kRoot] = true;
  for (std::uint32_t node = tree_->node_of(collective_.root); node != AggregationTree::kRoot;
       node = tree_->parent(node)) {
    leads_to_root_[node] = true;
  }
  assign_parts();
}

void Aggregation::assign_parts() {
  for (std::uint32_t node = 0; node < tree_->nodes(); ++node) {
    for (const AggregationTree::Child& child : tree_->children(node)) { assign_part(child, node); }
    most_ports_ = std::max({most_ports_, ups_[node], downs_[node]});
  }
}

/// Everything is added up but in a broadcast, where only the way from the root is used; everyone gets the result but in
/// a reduce, where only the root does, and in a broadcast, where the root does not.
void Aggregation::assign_part(const AggregationTree::Child& child, std::uint32_t node) {
  const bool is_root = child.is_rank && child.number == collective_.root;
  const bool leads = is_root || (!child.is_rank && leads_to_root_[child.number]);
  const bool root_alone = is_root || (leads && tree_->ranks_below(child.number) == 1);
  Part& part = parts_[agent_of(child).value];
  part.up = collective_.kind != CollectiveKind::broadcast || leads;
  part.down = (collective_.kind != CollectiveKind::reduce || leads) &&
              (collective_.kind != CollectiveKind::broadcast || !root_alone);
  part.up_port = ups_[node];
  part.down_port = downs_[node];
  ups_[node] += part.up ? 1 : 0;
  downs_[node] += part.down ? 1 : 0;
}

std::uint32_t Aggregation::lanes_per_channel(AgentId agent) const {
  if (is_top(agent)) { return 1; }
  const Part& part = parts_[agent.value];
  return (part.up ? 1 : 0) + (part.down ? 1 : 0);
}

Aggregation::Task Aggregation::task_of(AgentId agent, LaneId lane) const {
  const std::uint32_t each = lanes_per_channel(agent);
  if (is_top(agent)) { return {lane.value, Duty::turn}; }
  const bool up = parts_[agent.value].up && lane.value % each == 0;
  return {lane.value / each, up ? Duty::up : Duty::down};
}

LaneId Aggregation::lane_of(AgentId agent, std::uint32_t channel, Duty duty) const {
  const bool second = !is_top(agent) && duty == Duty::down && parts_[agent.value].up;
  return LaneId{channel * lanes_per_channel(agent) + (second ? 1 : 0)};
}

std::uint32_t Aggregation::in_ports(AgentId agent, Duty duty) const {
  if (duty == Duty::down) { return 1; }
  return is_rank(agent) ? 0 : ups_[agent.value - ranks()];
}

std::uint32_t Aggregation::out_ports(AgentId agent, Duty duty) const {
  if (duty == Duty::up) { return 1; }
  return is_rank(agent) ? 0 : downs_[agent.value - ranks()];
}

Lane Aggregation::lane(AgentId agent, LaneId lane) const {
  const Task task = task_of(agent, lane);
  const std::uint32_t in = in_ports(agent, task.duty);
  const std::uint32_t out = out_ports(agent, task.duty);
  const std::uint32_t duty = static_cast<std::uint32_t>(task.duty) + (is_rank(agent) ? 0 : 2);  // a rank turns nothing
  const std::uint32_t role = (duty * (most_ports_ + 2) + in) * (most_ports_ + 2) + out;
  return {1, cut_.loops(task.channel), in, out, ProgramId{2 * role + cut_.shape(task.channel)}};
}

Memory Aggregation::memory(AgentId agent) const {
  if (!is_rank(agent) || collective_.kind == CollectiveKind::barrier) { return {}; }
  const bool root = agent.value == collective_.root;
  const bool has_input = collective_.kind != CollectiveKind::broadcast || root;
  const bool has_output = collective_.kind != CollectiveKind::reduce || root;
  const bool shared = collective_.in_place && has_input && has_output;
  return {has_input ? collective_.count : Elements::zero(), has_output ? collective_.count : Elements::zero(),
          Elements::zero(), shared ? std::optional<std::int64_t>{0} : std::nullopt};
}

/// The one that has this port of the node's lane. Those that take no part have the port of the next one that does.
AgentId Aggregation::child(AgentId node, PortId port, Duty duty) const {
  const auto children = tree_->children(node.value - ranks());
  const auto found = std::partition_point(children.begin(), children.end(), [&](const AggregationTree::Child& child) {
    const Part& part = parts_[agent_of(child).value];
    const std::uint32_t first = duty == Duty::up ? part.up_port : part.down_port;
    return first < port.value;
  });
  for (auto child = found; child != children.end(); ++child) {
    const Part& part = parts_[agent_of(*child).value];
    if (duty == Duty::up ? part.up && part.up_port == port.value : part.down && part.down_port == port.value) {
      return agent_of(*child);
    }
  }
  require(false, "port {} of agent {} in an aggregation tree", port.value, node.value);
  return {};
}

Endpoint Aggregation::target(AgentId agent, LaneId lane, PortId out) const {
  const Task task = task_of(agent, lane);
  if (task.duty == Duty::up) {
    const AgentId node = above(agent);
    return {node, lane_of(node, task.channel, Duty::up), PortId{parts_[agent.value].up_port}};
  }
  const AgentId below = child(agent, out, Duty::down);
  return {below, lane_of(below, task.channel, Duty::down), PortId{0}};
}

Endpoint Aggregation::source(AgentId agent, LaneId lane, PortId in) const {
  const Task task = task_of(agent, lane);
  if (task.duty == Duty::down) {
    const AgentId node = above(agent);
    return {node, lane_of(node, task.channel, Duty::down), PortId{parts_[agent.value].down_port}};
  }
  const AgentId below = child(agent, in, Duty::up);
  return {below, lane_of(below, task.channel, Duty::up), PortId{0}};
}

Primitive Aggregation::at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t) const {
  const Task task = task_of(agent, lane);
  const Piece range = cut_.piece(task.channel, loop, 0);
  Primitive primitive;
  primitive.count = range.count;
  primitive.receives = {0, in_ports(agent, task.duty)};
  primitive.sends = {0, out_ports(agent, task.duty)};
  if (!is_rank(agent) || collective_.kind == CollectiveKind::barrier) { return primitive; }
  const bool broadcasts = collective_.kind == CollectiveKind::broadcast;
  if (task.duty == Duty::up) { primitive.operands[0] = contiguous(Buffer::input, range.first); }
  const bool copies = broadcasts && task.duty == Duty::up && !collective_.in_place;
  if (task.duty == Duty::down || copies) { primitive.store = contiguous(Buffer::output, range.first); }
  primitive.finish = task.duty == Duty::down && !broadcasts;
  return primitive;
}

std::shared_ptr<const AggregationTree> aggregation_tree(std::uint32_t ranks, const Layout& layout) {
  constexpr std::uint32_t kChildren = 8;
  if (!layout.trees.empty()) { return layout.trees.front(); }
  return std::make_shared<const AggregationTree>(AggregationTree::regular(ranks, kChildren));
}

namespace {

std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return std::make_unique<Aggregation>(collective, layout);
}

std::optional<std::string> refuses(const Collective& collective, const Layout& layout) {
  for (const auto& tree : layout.trees) {
    if (tree->ranks() == collective.ranks) { continue; }
    return fmt::format("an aggregation tree has {} ranks, and the collective {}", tree->ranks(), collective.ranks);
  }
  return {};
}

Elements granule(const Collective&, const Layout& layout) { return VectorCut::granule(1, layout); }

/// Every rank sends its vector once. Engines add.
Cost cost(const Collective& collective, const Layout& layout) {
  const auto tree = aggregation_tree(collective.ranks, layout);
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
      .make_for_many = make,
      .granule_for_many = granule,
      .cost_in_shape = cost,
      .refuses_many = refuses,
  };
}

}  // namespace athanor
