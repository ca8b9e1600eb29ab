#include <algorithm>

#include "algorithms/patterns/aggregation_forest.hpp"
#include "algorithms/patterns/rank_schedule.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

/// All-reduce, reduce, broadcast or barrier by engines in trees: the nodes of tree 0, of tree 1, ... follow the ranks.
/// Channel c takes tree c % trees. What the ranks send is added on its way up; the root sends the sum down, and each
/// node to all below it. Only the branches that a collective needs are used.
///
/// Per channel a rank has a lane that sends and one that receives, and a node of the channel's tree one lane up and one
/// down, as far as they are needed; the root of the tree has one lane for both. Ports of a node are its children, in
/// order. With EngineTreeShape::outstanding, a rank that also receives holds its next chunk back until it has got the
/// result that is so many before.
class Aggregation final : public VectorSchedule {
 public:
  Aggregation(const Collective& collective, const Layout& layout)
      : VectorSchedule(collective, 1, slices_as_chunks(layout)),
        outstanding_(layout.as<EngineTreeShape>().outstanding),
        forest_(aggregation_trees(collective.ranks, layout), collective.kind, collective.root,
                AgentId{collective.ranks}),
        most_ports_(forest_.widest()) {
    const std::uint32_t served = forest_[0].tree().ranks();
    require(served == ranks(), "an aggregation tree of {} ranks for {}", served, ranks());
  }

  AgentCount agent_count() const override { return {ranks(), forest_.end()}; }
  std::uint32_t lanes(AgentId agent) const override { return channels(agent) * lanes_per_channel(agent); }
  std::uint32_t channel(AgentId agent, LaneId lane) const override { return task_of(agent, lane).channel; }
  Lane lane(AgentId agent, LaneId lane) const override {
    const Task task = task_of(agent, lane);
    const std::uint32_t in = in_ports(agent, task.duty);
    const std::uint32_t out = out_ports(agent, task.duty);
    std::uint32_t duty = static_cast<std::uint32_t>(task.duty) + (is_rank(agent) ? 0 : 2);  // a rank turns nothing
    if (has_window(agent, task)) { duty = 5; }
    const std::uint32_t role = (duty * (most_ports_ + 2) + in) * (most_ports_ + 2) + out;
    return {1, cut().loops(task.channel), in, out, ProgramId{2 * role + cut().shape(task.channel)}};
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    const Task task = task_of(agent, lane);
    return task.duty == Duty::up ? end_above(agent, task) : end_below(agent, {task.channel, Duty::down}, out);
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    const Task task = task_of(agent, lane);
    return task.duty == Duty::down ? end_above(agent, task) : end_below(agent, {task.channel, Duty::up}, in);
  }
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t) const override {
    const Task task = task_of(agent, lane);
    const ElementRange range = cut().piece(task.channel, loop, 0);
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

 private:
  using Child = AggregationTree::Child;
  enum class Duty : std::uint8_t { up, down, turn };  ///< turn: the root of the tree
  struct Task {
    std::uint32_t channel = 0;
    Duty duty = Duty::up;
  };

  bool is_top(AgentId agent) const { return !is_rank(agent) && forest_.place(agent).node == AggregationTree::kRoot; }
  std::uint32_t tree_of(std::uint32_t channel) const { return channel % forest_.trees(); }
  AgentId agent_of(std::uint32_t tree, const Child& child) const {
    return child.is_rank ? AgentId{child.number} : forest_.agent(tree, child.number);
  }
  Child child_of(AgentId agent) const {
    return is_rank(agent) ? Child{true, agent.value} : Child{false, forest_.place(agent).node};
  }
  /// What an agent takes part in, and its ports, in the tree of a channel.
  const AggregationBranches::Part& part(AgentId agent, std::uint32_t channel) const {
    return forest_[tree_of(channel)].part(child_of(agent));
  }
  /// Where what goes up ends, or what comes down begins: in the node above, which has the same duty.
  Endpoint end_above(AgentId agent, const Task& task) const {
    const std::uint32_t tree = tree_of(task.channel);
    const AgentId node = forest_.agent(tree, forest_[tree].above(child_of(agent)));
    const AggregationBranches::Part& mine = part(agent, task.channel);
    return {node, lane_of(node, task), PortId{task.duty == Duty::up ? mine.up_port : mine.down_port}};
  }
  /// Where what goes down ends, or what comes up begins: in a child of the node, by the port to it.
  Endpoint end_below(AgentId agent, const Task& task, PortId port) const {
    const auto [tree, node] = forest_.place(agent);
    const AggregationBranches& branches = forest_[tree];
    const AgentId below = agent_of(
        tree, task.duty == Duty::up ? branches.child_up(node, port.value) : branches.child_down(node, port.value));
    return {below, lane_of(below, task), PortId{0}};
  }
  /// How many channels an agent serves, and which is the k-th of these.
  std::uint32_t channels(AgentId agent) const {
    if (is_rank(agent)) { return cut().channels(); }
    return (cut().channels() + forest_.trees() - 1 - forest_.place(agent).tree) / forest_.trees();
  }
  std::uint32_t channel_at(AgentId agent, std::uint32_t k) const {
    return is_rank(agent) ? k : k * forest_.trees() + forest_.place(agent).tree;
  }
  /// A rank takes part in the same of all trees.
  std::uint32_t lanes_per_channel(AgentId agent) const {
    if (is_top(agent)) { return 1; }
    const AggregationBranches::Part& mine = part(agent, channel_at(agent, 0));
    return (mine.up ? 1 : 0) + (mine.down ? 1 : 0);
  }
  Task task_of(AgentId agent, LaneId lane) const {
    if (is_top(agent)) { return {channel_at(agent, lane.value), Duty::turn}; }
    const std::uint32_t each = lanes_per_channel(agent);
    const bool up = part(agent, channel_at(agent, 0)).up && lane.value % each == 0;
    return {channel_at(agent, lane.value / each), up ? Duty::up : Duty::down};
  }
  LaneId lane_of(AgentId agent, const Task& task) const {
    const bool second = !is_top(agent) && task.duty == Duty::down && part(agent, task.channel).up;
    const std::uint32_t k = is_rank(agent) ? task.channel : task.channel / forest_.trees();
    return LaneId{k * lanes_per_channel(agent) + (second ? 1 : 0)};
  }
  std::uint32_t in_ports(AgentId agent, Duty duty) const { return duty == Duty::down ? 1 : children(agent, Duty::up); }
  std::uint32_t out_ports(AgentId agent, Duty duty) const { return duty == Duty::up ? 1 : children(agent, Duty::down); }
  /// Those that send up to the agent, or that it sends down to.
  std::uint32_t children(AgentId agent, Duty duty) const {
    if (is_rank(agent)) { return 0; }
    const auto [tree, node] = forest_.place(agent);
    return duty == Duty::up ? forest_[tree].ups(node) : forest_[tree].downs(node);
  }
  bool has_window(AgentId agent, const Task& task) const {
    return outstanding_ > 0 && is_rank(agent) && task.duty == Duty::up && part(agent, task.channel).down;
  }

  std::uint32_t outstanding_;  ///< of the layout's engines
  AggregationForest forest_;
  std::uint32_t most_ports_;
};

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

/// The words are for the caller to add.
Algorithm aggregation_of_vectors(CollectiveKind kind) {
  Algorithm algorithm = on_aggregation_trees(kind);
  algorithm.make_for_many = make_schedule<Aggregation>;
  algorithm.granule_for_many = granule_of_whole;
  algorithm.cost_in_shape = cost;
  return algorithm;
}

}  // namespace

Algorithm aggregation_tree_all_reduce() {
  Algorithm algorithm = aggregation_of_vectors(CollectiveKind::all_reduce);
  algorithm.summary =
      "switches add up what the ranks send on its way up a tree, and multicast the sum; every rank sends "
      "the payload once";
  algorithm.formula =
      "2 h alpha + n beta in one chunk that cuts through, 2 h (alpha + n beta) in one that does not, with "
      "many towards n beta; h messages from a rank to the top of the tree";
  algorithm.explanation =
      "Every rank sends its vector to the switch that it is on. A switch adds what comes from below and "
      "sends the sum on upwards; the top of the tree has the sum of all, which is multicast down again. A "
      "rank sends and receives its vector once, half of what a ring does, and the time of a small payload "
      "grows with the levels of the tree, not with the ranks.";
  algorithm.pipelines = true;
  return algorithm;
}

Algorithm aggregation_tree_broadcast() {
  Algorithm algorithm = aggregation_of_vectors(CollectiveKind::broadcast);
  algorithm.summary = "the payload climbs a tree of switches from the root, and is multicast down to all others";
  algorithm.formula =
      "(r + h) alpha + n beta in one chunk that cuts through, with many towards n beta; r and h messages "
      "from the root and from the deepest of the others to the top of the tree";
  algorithm.explanation =
      "The root sends the payload once; the switches on its way to the top of the tree pass it on, and each "
      "switch copies it to everything below it that has not got it.";
  algorithm.pipelines = true;
  return algorithm;
}

Algorithm aggregation_tree_reduce() {
  Algorithm algorithm = aggregation_of_vectors(CollectiveKind::reduce);
  algorithm.summary = "switches add up what the ranks send on its way up a tree; the sum goes down to the root alone";
  algorithm.formula =
      "(h + r) alpha + n beta in one chunk that cuts through, with many towards n beta; h and r messages "
      "from the deepest rank and from the root to the top of the tree";
  algorithm.explanation = "As the all-reduce of the same name, but that the sum goes down to the root alone.";
  algorithm.pipelines = true;
  return algorithm;
}

Algorithm aggregation_tree_barrier() {
  Algorithm algorithm = aggregation_of_vectors(CollectiveKind::barrier);
  algorithm.summary = "switches collect from all ranks up a tree, and release them down again";
  algorithm.formula = "2 h alpha; h messages from a rank to the top of the tree";
  algorithm.explanation =
      "A switch tells the one above when everything below it has told it; the top of the tree then releases "
      "all.";
  return algorithm;
}

}  // namespace athanor
