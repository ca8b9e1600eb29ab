#include "algorithms/patterns/binomial_tree.hpp"

#include <algorithm>

#include "algorithms/catalog.hpp"
#include "algorithms/patterns/knomial_tree.hpp"
#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

namespace {

/// Reduce up a binomial tree, broadcast down a k-nomial one, which of radix 2 is the same, or, for all-reduce, both,
/// chunk by chunk: per channel a rank has a lane for each. Upwards a rank adds what its children send, the smallest
/// subtree first (in-port i is child i), and sends the sum to its parent together with the last addition. Downwards it
/// hands on what it received, the largest subtrees first (out-port j leads to child children - 1 - j), to the first
/// child at once.
///
/// The sum so far stands in the output, where the rank is to have one: all have in an all-reduce, whose root turns the
/// sum back. Else it stands in scratch, which has room for one chunk per channel and exists where a rank adds more than
/// once.
template <std::uint32_t Radix>
class TreeSchedule final : public VectorSchedule {
 public:
  TreeSchedule(const Collective& collective, const Layout& layout)
      : VectorSchedule(collective, 1, slices_as_chunks(layout)),
        up_(collective.ranks, root_of(collective)),
        down_(collective.ranks, root_of(collective), Radix),
        both_(collective.kind == CollectiveKind::all_reduce) {}

  std::uint32_t lanes(AgentId) const override { return cut().channels() * each(); }
  Lane lane(AgentId agent, LaneId lane) const override {
    const std::uint32_t children = down(lane) ? down_.children(agent.value) : up_.children(agent.value);
    const std::uint32_t parents = up_.is_root(agent.value) ? 0 : 1;
    const std::uint32_t channel = lane.value / each();
    const std::uint32_t role = kMostRoles * cut().shape(channel) + 2 * children + parents;
    return {std::max(children, 1U), cut().loops(channel), down(lane) ? parents : children,
            down(lane) ? children : parents, ProgramId{each() * role + lane.value % each()}};
  }
  Memory memory(AgentId agent) const override {
    Memory memory = VectorSchedule::memory(agent);
    const bool adds_twice = collective().kind == CollectiveKind::reduce && up_.children(agent.value) > 1;
    if (adds_twice && !has_result(agent)) { memory.scratch = cut().chunk() * cut().channels(); }
    return memory;
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    if (!down(lane)) { return parent(agent, lane); }
    const std::uint32_t child = down_.children(agent.value) - 1 - out.value;
    return {AgentId{down_.child(agent.value, child)}, lane, PortId{0}};
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    if (!down(lane)) { return {AgentId{up_.child(agent.value, in.value)}, lane, PortId{0}}; }
    const std::uint32_t parent = down_.parent(agent.value);
    return {AgentId{parent}, lane, PortId{down_.children(parent) - 1 - down_.index(agent.value)}};
  }
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const std::uint32_t channel = lane.value / each();
    const ElementRange range = cut().piece(channel, loop, 0);
    return down(lane) ? hand_down(agent, lane, range, loop, step) : add_up(agent, channel, range, step);
  }
  Elements shift(Buffer buffer) const override { return buffer == Buffer::scratch ? Elements::zero() : cut().shift(); }

 private:
  /// Of each shape: more children than any rank has in a tree of 2^32 ranks, twice.
  static constexpr std::uint32_t kMostRoles = 2 * 32 * Radix + 2;

  static std::uint32_t root_of(const Collective& collective) { return has_root(collective.kind) ? collective.root : 0; }
  /// Lanes of a channel.
  std::uint32_t each() const { return both_ ? 2 : 1; }
  bool down(LaneId lane) const { return both_ ? lane.value % 2 == 1 : collective().kind == CollectiveKind::broadcast; }
  bool has_result(AgentId agent) const { return both_ || up_.is_root(agent.value); }
  /// Upwards.
  Endpoint parent(AgentId agent, LaneId lane) const {
    return {AgentId{up_.parent(agent.value)}, lane, PortId{up_.index(agent.value)}};
  }

  Primitive add_up(AgentId agent, std::uint32_t channel, const ElementRange& range, std::uint32_t step) const {
    const std::uint32_t children = up_.children(agent.value);
    const bool root = up_.is_root(agent.value);
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
    const std::uint32_t children = down_.children(agent.value);
    const bool root = down_.is_root(agent.value);
    Primitive primitive = over(range);
    if (step < children) { primitive.sends = {step, 1}; }
    if (root || step > 0) {
      primitive.operands[0] = contiguous(root && !both_ ? Buffer::input : Buffer::output, range.first);
    } else {
      primitive.receives = {0, 1};
    }
    const bool there = root && (both_ || collective().in_place);
    if (step == 0 && !there) { primitive.store = contiguous(Buffer::output, range.first); }
    if (step == 0 && root && both_) {
      primitive.wait = Wait{LaneId{lane.value - 1}, (loop + 1) * up_.children(agent.value)};
    }
    return primitive;
  }

  BinomialTree up_;
  KnomialTree down_;
  bool both_;
};

using BinomialTreeSchedule = TreeSchedule<2>;

/// Of the broadcast of Open MPI (coll_tuned_bcast_knomial_radix).
constexpr std::uint32_t kRadix = 4;
using KnomialTreeSchedule = TreeSchedule<kRadix>;

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

Cost cost_of_knomial_broadcast(const Collective& collective) {
  const KnomialTree tree(collective.ranks, collective.root, kRadix);
  return {tree.rounds(), collective.count * tree.children(collective.root), Elements::zero()};
}

/// Rank 0 sends most: it has a child more than any other has children and a parent.
Cost cost_of_knomial_all_reduce(const Collective& collective) {
  const BinomialTree up(collective.ranks, 0);
  const KnomialTree down(collective.ranks, 0, kRadix);
  return {up.depth() + down.rounds(), collective.count * down.children(0), collective.count * up.rounds()};
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

Algorithm knomial_tree_broadcast() {
  Algorithm algorithm = binomial_tree_broadcast();
  algorithm.name = "knomial_tree";
  algorithm.summary = "the ranks that have the payload become four times as many in three rounds; for small payloads";
  algorithm.formula = "3 log4 P (alpha + n beta) for P = 4^k";
  algorithm.source = "Open MPI 4.1, ompi/mca/coll/base/coll_base_bcast.c and coll_base_topo.c (knomial, radix 4)";
  algorithm.explanation =
      "A rank that has the payload sends it to the ranks 1, 2 and 3 times a power of 4 after it, the largest power "
      "first: log4 P hops in place of log2 P, where latency counts more than what a rank spends on a send.";
  algorithm.make_for_many = make_schedule<KnomialTreeSchedule>;
  algorithm.cost_for_many = cost_of_knomial_broadcast;
  return algorithm;
}

Algorithm binomial_knomial_tree_all_reduce() {
  Algorithm algorithm = binomial_tree_all_reduce();
  algorithm.name = "binomial_knomial_tree";
  algorithm.summary = "reduced up a binomial tree to rank 0, broadcast down a tree of radix 4; for small payloads";
  algorithm.formula = "log2 P (alpha + n (beta + gamma)) + 3 log4 P (alpha + n beta) for P = 4^k";
  algorithm.source = "Open MPI 4.1, ompi/mca/coll/base/coll_base_allreduce.c (nonoverlapping) and coll_base_topo.c";
  algorithm.explanation =
      "Sums go up a binomial tree to rank 0, the smallest subtree first; the result goes down a tree of radix 4, the "
      "largest subtrees first.";
  algorithm.make_for_many = make_schedule<KnomialTreeSchedule>;
  algorithm.cost_for_many = cost_of_knomial_all_reduce;
  return algorithm;
}

}  // namespace athanor
