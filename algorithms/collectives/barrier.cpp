#include <bit>

#include "algorithms/patterns/binomial_tree.hpp"
#include "algorithms/patterns/circulant.hpp"
#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

namespace {

std::uint32_t rounds(std::uint32_t ranks) { return static_cast<std::uint32_t>(std::bit_width(ranks - 1)); }

/// In round k a rank tells the rank 2^k places after it, and hears from the one as far before: it then knows of the
/// 2^(k+1) - 1 ranks before it.
class DisseminationBarrier final : public Circulant<RankSchedule> {
 public:
  DisseminationBarrier(const Collective& collective, const Layout&) : Circulant(collective) {}

  std::uint32_t lanes(AgentId) const override { return 1; }
  Lane lane(AgentId, LaneId) const override {
    return {2 * rounds(ranks()), 1, rounds(ranks()), rounds(ranks()), ProgramId{0}};
  }

  Primitive at(AgentId, LaneId, std::uint64_t, std::uint32_t step) const override {
    Primitive primitive;
    Ports& ports = step % 2 == 0 ? primitive.sends : primitive.receives;
    ports.first = step / 2;
    ports.count = 1;
    return primitive;
  }

  Elements message_limit() const override { return Elements::zero(); }
  Elements shift(Buffer) const override { return Elements::zero(); }

 protected:
  std::uint32_t distance(PortId port) const override { return 1U << port.value; }
};

Cost cost_of_dissemination(const Collective& collective) {
  return {rounds(collective.ranks), Elements::zero(), Elements::zero()};
}

/// Up a binomial tree to rank 0 and down again: a rank tells its parent when all its children have told it, and all
/// its children when its parent has told it. Port i belongs to child i, the next one to the parent.
class TreeBarrier final : public RankSchedule {
 public:
  TreeBarrier(const Collective& collective, const Layout&) : RankSchedule(collective), tree_(collective.ranks, 0) {}

  std::uint32_t lanes(AgentId) const override { return 1; }
  Lane lane(AgentId agent, LaneId) const override {
    const bool root = tree_.is_root(agent.value);
    const std::uint32_t children = tree_.children(agent.value);
    const std::uint32_t ports = children + (root ? 0 : 1);
    return {root ? 1U : 2U, 1, ports, ports, ProgramId{2 * children + (root ? 1 : 0)}};
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const override { return opposite(agent.value, lane, out); }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const override { return opposite(agent.value, lane, in); }

  Primitive at(AgentId agent, LaneId, std::uint64_t, std::uint32_t step) const override {
    const Ports below{0, tree_.children(agent.value)};
    const Ports above{below.count, 1};
    Primitive primitive;
    primitive.receives = step == 0 ? below : above;
    primitive.sends = step == 0 && !tree_.is_root(agent.value) ? above : below;
    return primitive;
  }

  Elements message_limit() const override { return Elements::zero(); }
  Elements shift(Buffer) const override { return Elements::zero(); }

 private:
  Endpoint opposite(std::uint32_t rank, LaneId lane, PortId port) const {
    if (port.value < tree_.children(rank)) {
      const std::uint32_t child = tree_.child(rank, port.value);
      return {AgentId{child}, lane, PortId{tree_.children(child)}};
    }
    return {AgentId{tree_.parent(rank)}, lane, PortId{tree_.index(rank)}};
  }

  BinomialTree tree_;
};

Cost cost_of_tree(const Collective& collective) {
  return {2 * BinomialTree(collective.ranks, 0).depth(), Elements::zero(), Elements::zero()};
}

}  // namespace

Algorithm dissemination_barrier() {
  return {
      .name = "dissemination",
      .kind = CollectiveKind::barrier,
      .summary = "every rank tells one at a doubling distance in each round; the fewest rounds",
      .formula = "ceil(log2 P) alpha",
      .source = "Hensgen, Finkel and Manber, Two algorithms for barrier synchronization, 1988",
      .explanation =
          "In round k every rank tells the rank 2^k places after it, and hears from the one 2^k before: it then knows "
          "of 2^(k+1) - 1 others. The fewest rounds.",
      .ranks = "any number of ranks",
      .fabrics = "any",
      .make_for_many = make_schedule<DisseminationBarrier>,
      .cost_for_many = cost_of_dissemination,
  };
}

Algorithm tree_barrier() {
  return {
      .name = "tree",
      .kind = CollectiveKind::barrier,
      .summary = "up a binomial tree and down again; the fewest messages",
      .formula = "2 floor(log2 P) alpha",
      .source =
          "the binomial tree's reduce and broadcast without payload; compare Mellor-Crummey and Scott, Algorithms for "
          "scalable synchronization on shared-memory multiprocessors, 1991",
      .explanation =
          "A rank tells its parent in a binomial tree when all its children have told it; then the root tells everyone "
          "down the same tree. The fewest messages.",
      .ranks = "any number of ranks",
      .fabrics = "any",
      .make_for_many = make_schedule<TreeBarrier>,
      .cost_for_many = cost_of_tree,
  };
}

}  // namespace athanor
