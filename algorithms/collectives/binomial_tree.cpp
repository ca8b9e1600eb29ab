#include "algorithms/patterns/binomial_tree.hpp"

#include <algorithm>

#include "algorithms/catalog.hpp"
#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

namespace {

/// Reduce up a binomial tree, broadcast down it, or, for all-reduce, both, chunk by chunk: per channel a rank has a
/// lane for each. Upwards a rank adds what its children send, the smallest subtree first (in-port i is child i), and
/// sends the sum to its parent together with the last addition. Downwards it hands on what it received, the largest
/// subtree first (out-port j leads to child children - 1 - j), to the first child at once.
///
/// The sum so far stands in the output, where the rank is to have one: all have in an all-reduce, whose root turns the
/// sum back. Else it stands in scratch, which has room for one chunk per channel and exists where a rank adds more than
/// once.
class BinomialTreeSchedule final : public VectorSchedule {
 public:
  BinomialTreeSchedule(const Collective& collective, const Layout& layout)
      : VectorSchedule(collective, 1, slices_as_chunks(layout)),
        tree_(collective.ranks, has_root(collective.kind) ? collective.root : 0),
        both_(collective.kind == CollectiveKind::all_reduce) {}

  std::uint32_t lanes(AgentId) const override { return cut().channels() * each(); }
  Lane lane(AgentId agent, LaneId lane) const override {
    const std::uint32_t children = tree_.children(agent.value);
    const std::uint32_t parents = tree_.is_root(agent.value) ? 0 : 1;
    const std::uint32_t channel = lane.value / each();
    const std::uint32_t role = 64 * cut().shape(channel) + 2 * children + parents;
    return {std::max(children, 1U), cut().loops(channel), down(lane) ? parents : children,
            down(lane) ? children : parents, ProgramId{each() * role + lane.value % each()}};
  }
  Memory memory(AgentId agent) const override {
    Memory memory = VectorSchedule::memory(agent);
    const bool adds_twice = collective().kind == CollectiveKind::reduce && tree_.children(agent.value) > 1;
    if (adds_twice && !has_result(agent)) { memory.scratch = cut().chunk() * cut().channels(); }
    return memory;
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    return down(lane) ? child(agent, lane, last_child(agent) - out.value) : parent(agent, lane, false);
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    return down(lane) ? parent(agent, lane, true) : child(agent, lane, in.value);
  }
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const std::uint32_t channel = lane.value / each();
    const ElementRange range = cut().piece(channel, loop, 0);
    return down(lane) ? hand_down(agent, lane, range, loop, step) : add_up(agent, channel, range, step);
  }
  Elements shift(Buffer buffer) const override { return buffer == Buffer::scratch ? Elements::zero() : cut().shift(); }

 private:
  /// Lanes of a channel.
  std::uint32_t each() const { return both_ ? 2 : 1; }
  bool down(LaneId lane) const { return both_ ? lane.value % 2 == 1 : collective().kind == CollectiveKind::broadcast; }
  bool has_result(AgentId agent) const { return both_ || tree_.is_root(agent.value); }
  std::uint32_t last_child(AgentId agent) const { return tree_.children(agent.value) - 1; }
  Endpoint child(AgentId agent, LaneId lane, std::uint32_t index) const {
    return {AgentId{tree_.child(agent.value, index)}, lane, PortId{0}};
  }
  Endpoint parent(AgentId agent, LaneId lane, bool largest_first) const {
    const AgentId parent{tree_.parent(agent.value)};
    const std::uint32_t index = tree_.index(agent.value);
    return {parent, lane, PortId{largest_first ? last_child(parent) - index : index}};
  }

  Primitive add_up(AgentId agent, std::uint32_t channel, const ElementRange& range, std::uint32_t step) const {
    const std::uint32_t children = tree_.children(agent.value);
    const bool root = tree_.is_root(agent.value);
    const bool last = step + 1 >= children;
    const Cells sum = has_result(agent) ? contiguous(Buffer::output, range.first)
                                        : contiguous(Buffer::scratch, cut().chunk() * channel);
    Primitive primitive = over(range);
    primitive.operands[0] = step == 0 ? contiguous(Buffer::input, range.first) : sum;
    if (children > 0) { primitive.receives = {step, 1}; }
    if (last && !root) { primitive.sends = {0, 1}; }
    if (!last || root) { primitive.store = sum; }
    primitive.finish = last && root;
    return primitive;
  }

  /// The root of an all-reduce hands down what its other lane has finished.
  Primitive hand_down(AgentId agent, LaneId lane, const ElementRange& range, std::uint64_t loop,
                      std::uint32_t step) const {
    const std::uint32_t children = tree_.children(agent.value);
    const bool root = tree_.is_root(agent.value);
    Primitive primitive = over(range);
    if (step < children) { primitive.sends = {step, 1}; }
    if (root || step > 0) {
      primitive.operands[0] = contiguous(root && !both_ ? Buffer::input : Buffer::output, range.first);
    } else {
      primitive.receives = {0, 1};
    }
    const bool there = root && (both_ || collective().in_place);
    if (step == 0 && !there) { primitive.store = contiguous(Buffer::output, range.first); }
    if (step == 0 && root && both_) { primitive.wait = Wait{LaneId{lane.value - 1}, (loop + 1) * children}; }
    return primitive;
  }

  BinomialTree tree_;
  bool both_;
};

Cost cost_of_broadcast(const Collective& collective) {
  const std::uint32_t rounds = BinomialTree(collective.ranks, collective.root).rounds();
  return {rounds, collective.count * rounds, Elements::zero()};
}

/// The root adds once per round, and everyone else sends once. The last subtree may be small and ready early, so that
/// the hops of the largest full one decide.
Cost cost_of_reduce(const Collective& collective) {
  const BinomialTree tree(collective.ranks, collective.root);
  return {tree.depth(), collective.count, collective.count * tree.rounds()};
}

/// Rank 0 has the most children. What is added and not sent on takes no step.
Cost cost_of_all_reduce(const Collective& collective) {
  const BinomialTree tree(collective.ranks, 0);
  const Elements moved = collective.count * tree.rounds();
  return {tree.depth() + tree.rounds(), moved, moved};
}

}  // namespace

Algorithm binomial_tree_broadcast() {
  return {
      .name = "binomial_tree",
      .kind = CollectiveKind::broadcast,
      .summary = "the ranks that have the payload double in each round; for small payloads",
      .formula = "ceil(log2 P) (alpha + n beta)",
      .source = "Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in MPICH, 2005",
      .explanation = "In each round all ranks that have the payload send it to one that has not, so that they double.",
      .ranks = "any number of ranks",
      .fabrics = "small payloads",
      .make_for_many = make_schedule<BinomialTreeSchedule>,
      .granule_for_many = granule_of_whole,
      .cost_for_many = cost_of_broadcast,
  };
}

Algorithm binomial_tree_reduce() {
  Algorithm algorithm = binomial_tree_broadcast();
  algorithm.kind = CollectiveKind::reduce;
  algorithm.summary = "the ranks that still hold a part of the sum halve in each round; for small payloads";
  algorithm.formula = "floor(log2 P) alpha + ceil(log2 P) n (beta + gamma)";
  algorithm.explanation =
      "In each round half of the ranks that still hold a part of the sum send it to the other half.";
  algorithm.cost_for_many = cost_of_reduce;
  return algorithm;
}

Algorithm binomial_tree_all_reduce() {
  return {
      .name = "binomial_tree",
      .kind = CollectiveKind::all_reduce,
      .summary = "reduced up a binomial tree to rank 0 and broadcast down it; for small payloads",
      .formula =
          "(floor(log2 P) + ceil(log2 P)) alpha + 2 ceil(log2 P) n beta + ceil(log2 P) n gamma; less where additions "
          "hide behind messages",
      .source = "Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in MPICH, 2005",
      .explanation =
          "Sums go up a binomial tree to rank 0, the smallest subtree first; the result goes down the same tree, the "
          "largest subtree first. The whole payload in each of the steps.",
      .ranks = "any number of ranks",
      .fabrics = "small payloads; the simplest logarithmic way",
      .pipelines = true,
      .make_for_many = make_schedule<BinomialTreeSchedule>,
      .granule_for_many = granule_of_whole,
      .cost_for_many = cost_of_all_reduce,
  };
}

}  // namespace athanor
