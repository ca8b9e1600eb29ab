#include <algorithm>
#include <map>

#include "algorithms/patterns/aggregation_forest.hpp"
#include "algorithms/patterns/rank_schedule.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

/// By place: the ranks in the order in which they hang on the tree, and by node the place of the first one below it.
std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>> leaves_in_order(const AggregationTree& tree) {
  std::vector<std::uint32_t> rank_at;
  std::vector<std::uint32_t> first_place(tree.nodes());
  std::vector<AggregationTree::Child> stack{{false, AggregationTree::kRoot}};
  while (!stack.empty()) {
    const AggregationTree::Child here = stack.back();
    stack.pop_back();
    if (here.is_rank) {
      rank_at.push_back(here.number);
      continue;
    }
    first_place[here.number] = static_cast<std::uint32_t>(rank_at.size());
    const auto children = tree.children(here.number);
    stack.insert(stack.end(), children.rbegin(), children.rend());
  }
  return {std::move(rank_at), std::move(first_place)};
}

std::uint32_t below(const AggregationTree& tree, const AggregationTree::Child& child) {
  return child.is_rank ? 1 : tree.ranks_below(child.number);
}

/// Reduce-scatter or all-gather by engines in trees, block by block in the order in which the ranks hang on the tree,
/// so that the blocks of a subtree follow each other. Agents, channels and trees are those of `Aggregation`.
///
/// Reduce-scatter: every rank sends all blocks up; the sum of a block goes from the root down to its owner alone.
/// All-gather: a rank sends its block up, and the root multicasts it down to all. To its owner, too: a primitive sends
/// to a contiguous range of ports.
///
/// Per channel a rank and a node have a lane up and one down; the root of the tree has one lane for both. A lane has a
/// step for each block that passes through it. With EngineTreeShape::outstanding, a rank begins a loop when it has got
/// all that it gets of the loop that is so many before.
class AggregationBlocks final : public CutSchedule<BlockCut> {
 public:
  AggregationBlocks(const Collective& collective, const Layout& layout)
      : CutSchedule(collective, BlockCut(collective.count, collective.ranks, slices_as_chunks(layout))),
        outstanding_(layout.as<EngineTreeShape>().outstanding),
        forest_(aggregation_trees(collective.ranks, layout), collective.kind, 0, AgentId{collective.ranks}) {
    const std::uint32_t served = forest_[0].tree().ranks();
    require(served == ranks(), "an aggregation tree of {} ranks for {}", served, ranks());
    for (std::uint32_t tree = 0; tree < forest_.trees(); ++tree) { order_blocks(tree); }
  }

  AgentCount agent_count() const override { return {ranks(), forest_.end()}; }
  std::uint32_t lanes(AgentId agent) const override {
    if (is_rank(agent)) { return 2 * cut().channels(); }
    const auto [tree, node] = forest_.place(agent);
    const std::uint32_t channels = (cut().channels() + forest_.trees() - 1 - tree) / forest_.trees();
    return channels * (node == AggregationTree::kRoot ? 1 : 2);
  }
  Lane lane(AgentId agent, LaneId lane) const override {
    const Task task = task_of(agent, lane);
    const auto duty = static_cast<std::uint32_t>(task.duty);
    const std::uint32_t role = is_rank(agent) ? duty : 2 + 3 * orders_[task.tree].programs[task.node] + duty;
    Lane result;
    result.steps = steps(agent, task);
    result.loops = cut().loops(task.channel);
    const auto children =
        is_rank(agent) ? 0 : static_cast<std::uint32_t>(forest_[task.tree].tree().children(task.node).size());
    result.in_ports = task.duty == Duty::down ? 1 : children;
    result.out_ports = task.duty == Duty::up ? 1 : children;
    result.program = ProgramId{role * cut().channels() + cut().shape(task.channel)};
    return result;
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    const Task task = task_of(agent, lane);
    return task.duty == Duty::up ? at_parent(task, agent, Duty::up) : at_child(task, out.value, Duty::down);
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    const Task task = task_of(agent, lane);
    return task.duty == Duty::down ? at_parent(task, agent, Duty::down) : at_child(task, in.value, Duty::up);
  }
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const Task task = task_of(agent, lane);
    return is_rank(agent) ? of_rank(agent, task, lane, loop, step) : of_node(task, loop, step);
  }

 private:
  enum class Duty : std::uint8_t { up, down, turn };  ///< turn: the root of the tree
  struct Task {
    std::uint32_t channel = 0;
    std::uint32_t tree = 0;
    std::uint32_t node = 0;  ///< of an engine
    Duty duty = Duty::up;
  };
  /// The order of the blocks in one tree.
  struct Order {
    std::vector<std::uint32_t> rank_at;      ///< by place
    std::vector<std::uint32_t> first_place;  ///< by node: of the blocks below it
    std::vector<std::uint32_t> programs;     ///< by node; equal where children have equally many ranks below them
  };

  bool gathers() const { return collective().kind == CollectiveKind::all_gather; }
  Task task_of(AgentId agent, LaneId lane) const {
    const Duty duty = lane.value % 2 == 0 ? Duty::up : Duty::down;
    if (is_rank(agent)) { return {lane.value / 2, lane.value / 2 % forest_.trees(), 0, duty}; }
    const auto [tree, node] = forest_.place(agent);
    if (node == AggregationTree::kRoot) { return {lane.value * forest_.trees() + tree, tree, node, Duty::turn}; }
    return {lane.value / 2 * forest_.trees() + tree, tree, node, duty};
  }
  Endpoint at_child(const Task& task, std::uint32_t port, Duty duty) const {
    const AggregationTree::Child child = forest_[task.tree].tree().children(task.node)[port];
    const AgentId agent = child.is_rank ? AgentId{child.number} : forest_.agent(task.tree, child.number);
    return {agent, lane_of(task.tree, child, task.channel, duty), PortId{0}};
  }
  Endpoint at_parent(const Task& task, AgentId agent, Duty duty) const {
    const AggregationTree::Child child{is_rank(agent), is_rank(agent) ? agent.value : task.node};
    const std::uint32_t node = forest_[task.tree].above(child);
    return {forest_.agent(task.tree, node), lane_of(task.tree, {false, node}, task.channel, duty),
            PortId{forest_[task.tree].part(child).up_port}};  // the same downwards: everyone takes part both ways
  }
  LaneId lane_of(std::uint32_t tree, const AggregationTree::Child& child, std::uint32_t channel, Duty duty) const {
    const std::uint32_t k = child.is_rank ? channel : (channel - tree) / forest_.trees();
    if (!child.is_rank && child.number == AggregationTree::kRoot) { return LaneId{k}; }
    return LaneId{2 * k + (duty == Duty::down ? 1 : 0)};
  }
  /// Of a reduce-scatter everything goes up and one's own comes down, of an all-gather the other way round.
  std::uint32_t steps(AgentId agent, const Task& task) const {
    if (task.duty == Duty::turn) { return ranks(); }
    if ((task.duty == Duty::up) != gathers()) { return ranks(); }
    return is_rank(agent) ? 1 : forest_[task.tree].tree().ranks_below(task.node);
  }
  /// The port of the child below which the block of a node's step is.
  std::uint32_t port_of(const Task& task, std::uint32_t step) const {
    const AggregationTree& tree = forest_[task.tree].tree();
    const auto children = tree.children(task.node);
    const auto nodes = std::partition_point(children.begin(), children.end(), [](const auto& c) { return !c.is_rank; });
    const std::uint32_t place = orders_[task.tree].first_place[task.node] + step;
    const auto after = std::partition_point(children.begin(), nodes, [&](const AggregationTree::Child& child) {
      return orders_[task.tree].first_place[child.number] <= place;
    });
    const auto before = static_cast<std::uint32_t>(after - children.begin());
    if (before == 0) { return step; }
    const AggregationTree::Child& last = *(after - 1);
    const std::uint32_t end = orders_[task.tree].first_place[last.number] + tree.ranks_below(last.number);
    return place < end ? before - 1 : before + (place - end);
  }
  Primitive of_rank(AgentId agent, const Task& task, LaneId lane, std::uint64_t loop, std::uint32_t step) const {
    const bool up = task.duty == Duty::up;
    const bool whole = up != gathers();  // all ranks' blocks, not its own alone
    const std::uint32_t owner = whole ? orders_[task.tree].rank_at[step] : agent.value;
    const ElementRange range = cut().slice(owner, task.channel, loop, 0);
    const Elements first = range.first + (whole ? cut().first(owner) : Elements::zero());
    Primitive primitive = over(range);
    if (up) {
      primitive.operands[0] = contiguous(Buffer::input, first);
      primitive.sends = {0, 1};
      const std::uint64_t results = gathers() ? ranks() : 1;
      if (step == 0) { primitive.wait = outstanding_window(outstanding_, LaneId{lane.value + 1}, loop, results); }
    } else {
      primitive.receives = {0, 1};
      primitive.store = contiguous(Buffer::output, first);
      primitive.finish = !gathers();
    }
    return primitive;
  }
  Primitive of_node(const Task& task, std::uint64_t loop, std::uint32_t step) const {
    const AggregationTree& tree = forest_[task.tree].tree();
    const bool whole = task.duty == Duty::turn || (task.duty == Duty::up) != gathers();
    const std::uint32_t place = whole ? step : orders_[task.tree].first_place[task.node] + step;
    const auto children = static_cast<std::uint32_t>(tree.children(task.node).size());
    const Ports all{0, children};
    Primitive primitive;
    primitive.count = cut().slice(orders_[task.tree].rank_at[place], task.channel, loop, 0).count;
    primitive.receives = task.duty == Duty::down ? Ports{0, 1} : gathers() ? Ports{port_of(task, step), 1} : all;
    primitive.sends = task.duty == Duty::up ? Ports{0, 1} : gathers() ? all : Ports{port_of(task, step), 1};
    return primitive;
  }
  void order_blocks(std::uint32_t tree) {
    const AggregationTree& nodes = forest_[tree].tree();
    Order order;
    std::tie(order.rank_at, order.first_place) = leaves_in_order(nodes);
    for (std::uint32_t node = 0; node < nodes.nodes(); ++node) {
      std::vector<std::uint32_t> shape;
      for (const AggregationTree::Child& child : nodes.children(node)) { shape.push_back(below(nodes, child)); }
      const auto fresh = static_cast<std::uint32_t>(shapes_.size());
      order.programs.push_back(shapes_.try_emplace(std::move(shape), fresh).first->second);
    }
    orders_.push_back(std::move(order));
  }

  std::uint32_t outstanding_;  ///< of the layout's engines
  AggregationForest forest_;
  std::vector<Order> orders_;                                   ///< by tree
  std::map<std::vector<std::uint32_t>, std::uint32_t> shapes_;  ///< ranks below the children of a node: its program
};

/// Blocks follow each other through the root of the tree. A block of a reduce-scatter, sent as number s, is there after
/// s and the deepest rank's messages, and then descends to its owner. In an all-gather it is there as many messages
/// after it was sent as its owner is deep, and descends to the deepest rank after all that follow it.
Cost cost(const Collective& collective, const Layout& layout) {
  const auto tree = aggregation_trees(collective.ranks, layout).front();
  const bool gathers = collective.kind == CollectiveKind::all_gather;
  const std::vector<std::uint32_t> order = leaves_in_order(*tree).first;
  std::uint32_t longest = 0;
  for (std::uint32_t place = 0; place < order.size(); ++place) {
    const std::uint32_t others = gathers ? collective.ranks - 1 - place : place;
    longest = std::max(longest, others + tree->depth(order[place]));
  }
  const Elements sent = gathers ? block(collective.count, collective.ranks, 0).count : collective.count;
  return {longest + tree->depth(), sent, Elements::zero()};
}

/// The words are for the caller to add.
Algorithm aggregation_blocks_algorithm(CollectiveKind kind) {
  Algorithm algorithm = on_aggregation_trees(kind);
  algorithm.pipelines = true;
  algorithm.make_for_many = make_schedule<AggregationBlocks>;
  algorithm.granule_for_many = granule_of_blocks;
  algorithm.cost_in_shape = cost;
  return algorithm;
}

}  // namespace

Algorithm aggregation_tree_reduce_scatter() {
  Algorithm algorithm = aggregation_blocks_algorithm(CollectiveKind::reduce_scatter);
  algorithm.summary =
      "switches add up the blocks that the ranks send up a tree, one after the other; the sum of a block goes down to "
      "its owner alone";
  algorithm.formula =
      "2 h alpha + n beta where blocks cut through, 2 h alpha + (P - 1 + 2 h)/P n beta where they do not; h messages "
      "from a rank to the top of the tree";
  algorithm.explanation =
      "Every rank sends all blocks to the switch that it is on, in the order in which the ranks hang on the tree. "
      "Switches add and pass on; the top of the tree sends the sum of a block down the branch of its owner, while it "
      "adds up the next. A rank sends the payload once and receives its own block alone, where a ring brings it all "
      "blocks but one.";
  return algorithm;
}

Algorithm aggregation_tree_all_gather() {
  Algorithm algorithm = aggregation_blocks_algorithm(CollectiveKind::all_gather);
  algorithm.summary =
      "every rank's block climbs a tree of switches once, and is multicast down to all; a rank sends its block alone";
  algorithm.formula =
      "2 h alpha + n beta where blocks cut through, 2 h alpha + (P - 1 + 2 h)/P n beta where they do not; h messages "
      "from a rank to the top of the tree";
  algorithm.explanation =
      "Every rank sends its block to the switch that it is on; blocks climb to the top of the tree in the order in "
      "which the ranks hang on it, and are multicast down to all ranks, to their owner too. A rank sends its block "
      "once, where it sends all but one in a ring, and receives the payload.";
  return algorithm;
}

}  // namespace athanor
