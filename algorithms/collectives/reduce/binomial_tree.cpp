#include "algorithms/patterns/binomial_tree.hpp"

#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

namespace {

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
Cost cost(const Collective& collective) {
  const BinomialTree tree(collective.ranks, collective.root);
  return {tree.depth(), collective.count, collective.count * tree.rounds()};
}

}  // namespace

Algorithm binomial_tree_reduce() {
  return {
      .name = "binomial_tree",
      .kind = CollectiveKind::reduce,
      .summary = "the ranks that still hold a part of the sum halve in each round; for small payloads",
      .formula = "floor(log2 P) alpha + ceil(log2 P) n (beta + gamma)",
      .source = "Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in MPICH, 2005",
      .explanation = "In each round half of the ranks that still hold a part of the sum send it to the other half.",
      .ranks = "any number of ranks",
      .fabrics = "small payloads",
      .make_for_many = make_schedule<BinomialTreeReduce>,
      .granule_for_many = granule_of_whole,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
