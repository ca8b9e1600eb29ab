#include "algorithms/patterns/binomial_tree.hpp"

#include <algorithm>

#include "algorithms/catalog.hpp"
#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

namespace {

/// A rank receives a chunk and sends it to its children one after the other, the largest subtree first: out-port j
/// leads to child children - 1 - j. What it received goes to the first child at once.
class BinomialTreeBroadcast final : public VectorSchedule {
 public:
  BinomialTreeBroadcast(const Collective& collective, const Layout& layout)
      : VectorSchedule(collective, 1, slices_as_chunks(layout)), tree_(collective.ranks, collective.root) {}

  Lane lane(AgentId agent, LaneId lane) const override {
    const std::uint32_t children = tree_.children(agent.value);
    const bool root = is_root(agent);
    const std::uint32_t role = 2 * children + (root ? 1 : 0);
    return {std::max(children, 1U), cut().loops(lane.value), root ? 0U : 1U, children,
            ProgramId{64 * cut().shape(lane.value) + role}};
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    const std::uint32_t last = tree_.children(agent.value) - 1;
    return {AgentId{tree_.child(agent.value, last - out.value)}, lane, PortId{0}};
  }
  Endpoint source(AgentId agent, LaneId lane, PortId) const override {
    const std::uint32_t parent = tree_.parent(agent.value);
    return {AgentId{parent}, lane, PortId{tree_.children(parent) - 1 - tree_.index(agent.value)}};
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const Piece range = cut().piece(lane.value, loop, 0);
    const bool root = is_root(agent);
    Primitive primitive = over(range);
    if (step < tree_.children(agent.value)) { primitive.sends = {step, 1}; }
    if (root) {
      primitive.operands[0] = contiguous(Buffer::input, range.first);
    } else if (step == 0) {
      primitive.receives = {0, 1};
    } else {
      primitive.operands[0] = contiguous(Buffer::output, range.first);
    }
    if (step == 0 && !(root && collective().in_place)) { primitive.store = contiguous(Buffer::output, range.first); }
    return primitive;
  }

 private:
  BinomialTree tree_;
};

Cost cost_of_broadcast(const Collective& collective) {
  const std::uint32_t rounds = BinomialTree(collective.ranks, collective.root).rounds();
  return {rounds, collective.count * rounds, Elements::zero()};
}

/// A rank adds what its children send, the smallest subtree first (in-port i is child i), and sends the sum to its
/// parent together with the last addition. The sum so far stands in the root's output and in the others' scratch, which
/// has room for one chunk per channel and exists where a rank adds more than once.
class BinomialTreeReduce final : public VectorSchedule {
 public:
  BinomialTreeReduce(const Collective& collective, const Layout& layout)
      : VectorSchedule(collective, 1, slices_as_chunks(layout)), tree_(collective.ranks, collective.root) {}

  Lane lane(AgentId agent, LaneId lane) const override {
    const std::uint32_t children = tree_.children(agent.value);
    const bool root = is_root(agent);
    const std::uint32_t role = 2 * children + (root ? 1 : 0);
    return {std::max(children, 1U), cut().loops(lane.value), children, root ? 0U : 1U,
            ProgramId{64 * cut().shape(lane.value) + role}};
  }
  Memory memory(AgentId agent) const override {
    Memory memory = VectorSchedule::memory(agent);
    const bool adds_twice = tree_.children(agent.value) > 1;
    if (adds_twice && !is_root(agent)) { memory.scratch = cut().chunk() * cut().channels(); }
    return memory;
  }
  Endpoint target(AgentId agent, LaneId lane, PortId) const override {
    return {AgentId{tree_.parent(agent.value)}, lane, PortId{tree_.index(agent.value)}};
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    return {AgentId{tree_.child(agent.value, in.value)}, lane, PortId{0}};
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const Piece range = cut().piece(lane.value, loop, 0);
    const std::uint32_t children = tree_.children(agent.value);
    const bool root = is_root(agent);
    const bool last = step + 1 >= children;
    const Cells sum =
        root ? contiguous(Buffer::output, range.first) : contiguous(Buffer::scratch, cut().chunk() * lane.value);
    Primitive primitive = over(range);
    primitive.operands[0] = step == 0 ? contiguous(Buffer::input, range.first) : sum;
    if (children > 0) { primitive.receives = {step, 1}; }
    if (last && !root) { primitive.sends = {0, 1}; }
    if (!last || root) { primitive.store = sum; }
    primitive.finish = last && root;
    return primitive;
  }

  Elements shift(Buffer buffer) const override { return buffer == Buffer::scratch ? Elements::zero() : cut().shift(); }

 private:
  BinomialTree tree_;
};

/// The root adds once per round, and everyone else sends once. The last subtree may be small and ready early, so that
/// the hops of the largest full one decide.
Cost cost_of_reduce(const Collective& collective) {
  const BinomialTree tree(collective.ranks, collective.root);
  return {tree.depth(), collective.count, collective.count * tree.rounds()};
}

/// The binomial reduce to rank 0 and the broadcast from it, chunk by chunk: per channel a rank has one lane that adds
/// what its children send, the smallest subtree first (in-port i is child i), and sends the sum up; and one that hands
/// the result down, the largest subtree first (out-port j is child children - 1 - j). The sum so far stands in the
/// output. Rank 0's second lane waits for its first.
class BinomialTreeAllReduce final : public VectorSchedule {
 public:
  BinomialTreeAllReduce(const Collective& collective, const Layout& layout)
      : VectorSchedule(collective, 1, slices_as_chunks(layout)), tree_(collective.ranks, 0) {}

  std::uint32_t lanes(AgentId) const override { return 2 * cut().channels(); }
  Lane lane(AgentId agent, LaneId lane) const override {
    const std::uint32_t children = tree_.children(agent.value);
    const std::uint32_t parents = tree_.is_root(agent.value) ? 0 : 1;
    const std::uint32_t channel = lane.value / 2;
    const std::uint32_t role = 2 * (2 * children + parents) + lane.value % 2;
    return {std::max(children, 1U), cut().loops(channel), down(lane) ? parents : children,
            down(lane) ? children : parents, ProgramId{256 * cut().shape(channel) + role}};
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    return down(lane) ? child(agent, lane, last_child(agent) - out.value) : parent(agent, lane, false);
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    return down(lane) ? parent(agent, lane, true) : child(agent, lane, in.value);
  }
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const Piece range = cut().piece(lane.value / 2, loop, 0);
    return down(lane) ? hand_down(agent, lane, range, loop, step) : add_up(agent, range, step);
  }

 private:
  static bool down(LaneId lane) { return lane.value % 2 == 1; }
  std::uint32_t last_child(AgentId agent) const { return tree_.children(agent.value) - 1; }
  Endpoint child(AgentId agent, LaneId lane, std::uint32_t index) const {
    return {AgentId{tree_.child(agent.value, index)}, lane, PortId{0}};
  }
  Endpoint parent(AgentId agent, LaneId lane, bool largest_first) const {
    const AgentId parent{tree_.parent(agent.value)};
    const std::uint32_t index = tree_.index(agent.value);
    return {parent, lane, PortId{largest_first ? last_child(parent) - index : index}};
  }

  Primitive add_up(AgentId agent, const Piece& range, std::uint32_t step) const {
    const std::uint32_t children = tree_.children(agent.value);
    const bool root = tree_.is_root(agent.value);
    const bool last = step + 1 >= children;
    Primitive primitive = over(range);
    primitive.operands[0] = contiguous(step == 0 ? Buffer::input : Buffer::output, range.first);
    if (children > 0) { primitive.receives = {step, 1}; }
    if (last && !root) { primitive.sends = {0, 1}; }
    if (!last || root) { primitive.store = contiguous(Buffer::output, range.first); }
    primitive.finish = last && root;
    return primitive;
  }

  Primitive hand_down(AgentId agent, LaneId lane, const Piece& range, std::uint64_t loop, std::uint32_t step) const {
    const std::uint32_t children = tree_.children(agent.value);
    const bool root = tree_.is_root(agent.value);
    Primitive primitive = over(range);
    if (step < children) { primitive.sends = {step, 1}; }
    if (root || step > 0) {
      primitive.operands[0] = contiguous(Buffer::output, range.first);
    } else {
      primitive.receives = {0, 1};
      primitive.store = contiguous(Buffer::output, range.first);
    }
    if (root && step == 0) { primitive.wait = Wait{LaneId{lane.value - 1}, (loop + 1) * children}; }
    return primitive;
  }

  BinomialTree tree_;
};

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
      .make_for_many = make_schedule<BinomialTreeBroadcast>,
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
  algorithm.make_for_many = make_schedule<BinomialTreeReduce>;
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
      .make_for_many = make_schedule<BinomialTreeAllReduce>,
      .granule_for_many = granule_of_whole,
      .cost_for_many = cost_of_all_reduce,
  };
}

}  // namespace athanor
