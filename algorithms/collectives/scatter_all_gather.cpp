#include <algorithm>

#include "algorithms/patterns/binomial_tree.hpp"
#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

namespace {

/// A loop's chunk has one piece per rank, in the order of ranks from the root. First every rank gets the pieces of its
/// subtree of a binomial tree from its parent (in-port 1) and sends those of its children, the largest subtree first
/// (out-port 1 + i is child i). Then every piece goes once around the ring (ports 0): P calls.
class ScatterAllGather final : public VectorSchedule {
 public:
  ScatterAllGather(const Collective& collective, const Layout& layout)
      : VectorSchedule(collective, collective.ranks, for_messages_of(collective.ranks, layout)),
        tree_(collective.ranks, collective.root) {}

  Lane lane(AgentId agent, LaneId lane) const override {
    const bool root = tree_.is_root(agent.value);
    const std::uint32_t role = root ? 0 : subtree(agent.value);
    return {scatter_steps(agent.value) + ranks(), cut().loops(lane.value), root ? 1U : 2U,
            1 + tree_.children(agent.value), ProgramId{2 * role + cut().shape(lane.value)}};
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override {
    if (out.value == 0) { return {AgentId{after(agent.value, 1)}, lane, out}; }
    return {AgentId{tree_.child(agent.value, out.value - 1)}, lane, PortId{1}};
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override {
    if (in.value == 0) { return {AgentId{before(agent.value, 1)}, lane, in}; }
    return {AgentId{tree_.parent(agent.value)}, lane, PortId{1 + tree_.index(agent.value)}};
  }

  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const override {
    const std::uint32_t rank = agent.value;
    const std::uint32_t scatter = scatter_steps(rank);
    if (step >= scatter) { return pass_on(rank, lane.value, loop, step - scatter); }
    const std::uint32_t children = tree_.children(rank);
    const bool receives = scatter > children && step == 0;
    const std::uint32_t i = scatter - 1 - step;
    const std::uint32_t first = receives ? rank : tree_.child(rank, i);
    const ElementRange range = cut().pieces(lane.value, loop, position(first), subtree(first));
    return receives ? receiving(range, Buffer::output, 1) : sending(range, held_in(rank), 1 + i);
  }

  Elements message_limit() const override {
    return std::min(cut().message_limit() * (ranks() - 1), std::max(collective().count, Elements{1}));
  }
  /// All ranks first send a piece around the ring; with more than two, one more slot lets a piece move on.
  std::uint32_t least_slots() const override { return ranks() > 2 ? 2 : 1; }

 private:
  std::uint32_t position(std::uint32_t rank) const { return before(rank, collective().root); }
  /// Its size; requires a rank other than the root.
  std::uint32_t subtree(std::uint32_t rank) const {
    return std::min(1U << tree_.index(rank), ranks() - position(rank));
  }
  std::uint32_t scatter_steps(std::uint32_t rank) const { return tree_.children(rank) + (tree_.is_root(rank) ? 0 : 1); }
  Buffer held_in(std::uint32_t rank) const { return tree_.is_root(rank) ? Buffer::input : Buffer::output; }

  Primitive pass_on(std::uint32_t rank, std::uint32_t channel, std::uint64_t loop, std::uint32_t call) const {
    const ElementRange range = cut().piece(channel, loop, before(position(rank), call));
    Primitive primitive = over(range);
    if (call == 0) { primitive.operands[0] = contiguous(held_in(rank), range.first); }
    if (call > 0) { primitive.receives = {0, 1}; }
    if (call + 1 < ranks()) { primitive.sends = {0, 1}; }
    const std::uint32_t after = (ranks() - call) % ranks();  // where the piece is, counted from the own one
    const bool there = tree_.is_root(rank) ? collective().in_place : after < subtree(rank);
    if (!there) { primitive.store = contiguous(Buffer::output, range.first); }
    return primitive;
  }

  BinomialTree tree_;
};

/// The root scatters all pieces but its own, and sends all but the next rank's around the ring.
Cost cost(const Collective& collective) {
  const std::uint32_t rounds = BinomialTree(collective.ranks, collective.root).rounds();
  const Elements own = block(collective.count, collective.ranks, 0).count;
  const Elements next = block(collective.count, collective.ranks, 1).count;
  return {rounds + collective.ranks - 1, collective.count * 2 - own - next, Elements::zero()};
}

}  // namespace

Algorithm scatter_all_gather_broadcast() {
  return {
      .name = "scatter_all_gather",
      .kind = CollectiveKind::broadcast,
      .summary = "each rank gets a piece, then the pieces go around a ring; for large payloads in one loop",
      .formula = "(ceil(log2 P) + P-1) alpha + 2 (P-1)/P n beta",
      .source =
          "Barnett, Gupta, Payne, Shuler, van de Geijn and Watts, Interprocessor collective communication library, "
          "1994",
      .explanation =
          "The root scatters P pieces down a binomial tree, then the pieces go once around a ring: the root sends the "
          "payload about once, not once per child.",
      .ranks = "any number of ranks",
      .fabrics = "large payloads in one chunk",
      .make_for_many = make_schedule<ScatterAllGather>,
      .granule_for_many = granule_of_pieces,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
