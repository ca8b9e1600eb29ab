#include "algorithms/patterns/binomial_tree.hpp"

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

Cost cost(const Collective& collective) {
  const std::uint32_t rounds = BinomialTree(collective.ranks, collective.root).rounds();
  return {rounds, collective.count * rounds, Elements::zero()};
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
      .cost_for_many = cost,
  };
}

}  // namespace athanor
