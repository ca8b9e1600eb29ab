#include <algorithm>
#include <utility>

#include "algorithms/catalog.hpp"
#include "algorithms/patterns/disjoint_cycles.hpp"
#include "algorithms/patterns/rank_schedule.hpp"

namespace athanor {

namespace {

/// All-reduce around closed rings, one lane per ring: a chunk starts at the rank after its owner, is reduced on its way
/// around to the owner, which finishes it, and goes around once more to be stored: 2P - 1 calls per loop, in each of
/// which every rank handles one chunk.
class CycleAllReduce : public VectorSchedule {
 public:
  CycleAllReduce(const Collective& collective, const Layout& layout)
      : VectorSchedule(collective, collective.ranks, layout) {}

  Lane lane(AgentId, LaneId lane) const final {
    return {(2 * ranks() - 1) * cut().slices(), cut().loops(lane.value), 1, 1, ProgramId{cut().shape(lane.value)}};
  }
  Endpoint target(AgentId agent, LaneId lane, PortId out) const final {
    return beside(agent.value, lane, out, ranks() - 1);
  }
  Endpoint source(AgentId agent, LaneId lane, PortId in) const final { return beside(agent.value, lane, in, 1); }
  Primitive at(AgentId agent, LaneId lane, std::uint64_t loop, std::uint32_t step) const final {
    const std::uint32_t call = step / cut().slices();
    const std::uint32_t chunk = before(position(lane.value, agent.value), call + 1);
    const ElementRange range = cut().slice(lane.value, loop, chunk, step % cut().slices());
    Primitive primitive = over(range);
    if (call > 0) { primitive.receives = {0, 1}; }
    if (call < 2 * ranks() - 2) { primitive.sends = {0, 1}; }
    if (call < ranks()) { primitive.operands[0] = contiguous(Buffer::input, range.first); }
    if (call + 1 >= ranks()) { primitive.store = contiguous(Buffer::output, range.first); }
    primitive.finish = call + 1 == ranks();
    return primitive;
  }
  /// Of the calls that reduce and pass on, and of those that store and pass on.
  StepRange alike(AgentId, LaneId lane, std::uint64_t loop, std::uint32_t step) const final {
    const std::uint32_t call = step / cut().slices();
    const std::optional<std::uint32_t> period = cut().slice_period(lane.value, loop);
    for (const auto& [first, end] : {std::pair{1U, ranks() - 1}, std::pair{ranks(), 2 * ranks() - 2}}) {
      if (!period || call < first || call >= end) { continue; }
      return {first * cut().slices(), end * cut().slices(), *period};
    }
    return {step, step + 1};
  }
  /// All ranks first send the slices of one chunk; one more slot lets a slice move on.
  std::uint32_t least_slots() const final { return cut().slices() + 1; }

  /// Of a layout with one loop and one slice.
  /// A rank sends all chunks twice but for its own and the next, which it sends once, and adds to all but the one
  /// before.
  Cost cost() const {
    Cost result{2 * (ranks() - 1), Elements::zero(), Elements::zero()};
    for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
      Elements sent;
      Elements reduced;
      for (std::uint32_t ring = 0; ring < cut().channels(); ++ring) {
        const std::uint32_t own = position(ring, rank);
        const Elements all = cut().pieces(ring, 0, 0, ranks()).count;
        sent += all * 2 - cut().piece(ring, 0, own).count - cut().piece(ring, 0, (own + 1) % ranks()).count;
        reduced += all - cut().piece(ring, 0, before(own, 1)).count;
      }
      result.sent = std::max(result.sent, sent);
      result.reduced = std::max(result.reduced, reduced);
    }
    return result;
  }

 protected:
  /// Where a ring visits a rank, and the inverse.
  virtual std::uint32_t position(std::uint32_t ring, std::uint32_t rank) const = 0;
  virtual std::uint32_t rank_at(std::uint32_t ring, std::uint32_t position) const = 0;

 private:
  /// The position `back` places before this one; requires back <= 2 * ranks.
  std::uint32_t before(std::uint32_t position, std::uint32_t back) const {
    return static_cast<std::uint32_t>((position + 2ULL * ranks() - back) % ranks());
  }
  Endpoint beside(std::uint32_t rank, LaneId lane, PortId port, std::uint32_t back) const {
    return {AgentId{rank_at(lane.value, before(position(lane.value, rank), back))}, lane, port};
  }
};

class RingAllReduce final : public CycleAllReduce {
 public:
  RingAllReduce(const Collective& collective, const Layout& layout)
      : CycleAllReduce(collective, layout), order_(collective.ranks, layout) {}

 protected:
  std::uint32_t position(std::uint32_t ring, std::uint32_t rank) const override { return order_.position(ring, rank); }
  std::uint32_t rank_at(std::uint32_t ring, std::uint32_t position) const override {
    return order_.rank(ring, position);
  }

 private:
  RingOrder order_;
};

/// Every rank sends all chunks twice but for its own and the next, which it sends once; the last two are the shortest.
Cost cost_of_ring(const Collective& collective) {
  const std::uint32_t ranks = collective.ranks;
  const Elements last = block(collective.count, ranks, ranks - 1).count;
  const Elements last_but_one = block(collective.count, ranks, ranks - 2).count;
  return {2 * (ranks - 1), collective.count * 2 - last - last_but_one, collective.count - last};
}

/// Rings 2c and 2c + 1 are channel c's ring, in its order and the other way round.
class BidirectionalRing final : public CycleAllReduce {
 public:
  BidirectionalRing(const Collective& collective, const Layout& layout)
      : CycleAllReduce(collective, layout),
        orders_{RingOrder(collective.ranks, layout), RingOrder(collective.ranks, layout, Direction::backwards)} {}

 protected:
  std::uint32_t position(std::uint32_t ring, std::uint32_t rank) const override {
    return orders_[ring % 2].position(ring / 2, rank);
  }
  std::uint32_t rank_at(std::uint32_t ring, std::uint32_t position) const override {
    return orders_[ring % 2].rank(ring / 2, position);
  }

 private:
  RingOrder orders_[2];
};

Layout both_directions(Layout layout) {
  layout.channels *= 2;
  return layout;
}

std::unique_ptr<const Schedule> make_bidirectional_ring(const Collective& collective, const Layout& layout) {
  return std::make_unique<BidirectionalRing>(collective, both_directions(layout));
}

Elements granule_of_bidirectional_ring(const Collective& collective, const Layout& layout) {
  return VectorCut::granule(collective.ranks, both_directions(layout));
}

Cost cost_of_bidirectional_ring(const Collective& collective) {
  return BidirectionalRing(collective, both_directions({})).cost();
}

DisjointCycles cycles_of(const Collective& collective, const Layout& layout) {
  const auto& [dimensions, rings] = layout.as<GridShape>();
  return {collective.ranks, dimensions, rings == 0 ? 8 : rings};
}

/// Each channel uses every cycle.
Layout on_all_cycles(const Collective& collective, Layout layout) {
  layout.channels *= cycles_of(collective, layout).count();
  return layout;
}

class MultiRing final : public CycleAllReduce {
 public:
  MultiRing(const Collective& collective, const Layout& layout)
      : CycleAllReduce(collective, on_all_cycles(collective, layout)), cycles_(cycles_of(collective, layout)) {}

 protected:
  std::uint32_t position(std::uint32_t ring, std::uint32_t rank) const override {
    return cycles_.position(ring % cycles_.count(), rank);
  }
  std::uint32_t rank_at(std::uint32_t ring, std::uint32_t position) const override {
    return cycles_.rank_at(ring % cycles_.count(), position);
  }

 private:
  DisjointCycles cycles_;
};

Elements granule_of_multi_ring(const Collective& collective, const Layout& layout) {
  return VectorCut::granule(collective.ranks, on_all_cycles(collective, layout));
}

std::optional<std::string> refuse_multi_ring(const Collective&, const Layout& layout) {
  return DisjointCycles::refuse(layout.as<GridShape>().dimensions);
}

}  // namespace

Algorithm ring_all_reduce() {
  return {
      .name = "ring",
      .kind = CollectiveKind::all_reduce,
      .summary = "reduced around a ring, then passed around once more; least traffic without an engine",
      .formula = "2(P-1) alpha + 2 (P-1)/P n beta + (P-1)/P n gamma",
      .source = "Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, 2009",
      .explanation =
          "The vector is cut into P blocks. In each of P-1 steps every rank sends one block to the next rank of a "
          "ring, which adds its own share; then each rank holds one finished block, and P-1 more steps pass these "
          "around. All ranks send and receive all the time, so that nothing is sent twice and the bandwidth is the "
          "best that is possible without an engine; the number of steps grows with P.",
      .ranks = "any number of ranks",
      .fabrics =
          "large payloads on any fabric: a rank talks to two neighbours only; several channels with rotated orders use "
          "several NICs",
      .make_for_many = make_schedule<RingAllReduce>,
      .granule_for_many = granule_of_pieces,
      .cost_for_many = cost_of_ring,
  };
}

Algorithm bidirectional_ring_all_reduce() {
  return {
      .name = "bidirectional_ring",
      .kind = CollectiveKind::all_reduce,
      .summary = "half of the payload each way round a ring; for ranks with two ports",
      .formula =
          "2(P-1) alpha + (P-1)/P n beta + (P-1)/P n gamma, beta that of one of the two ports; as ring where both ways "
          "share one",
      .source = "Jain and Sabharwal, Optimal bucket algorithms for large MPI collectives on torus interconnects, 2010",
      .explanation =
          "Two rings over the same order, one each way round, take half of the payload each. A rank with a port to "
          "each neighbour uses both in both directions all the time.",
      .ranks = "any number of ranks",
      .fabrics = "a ring or torus of direct links, or hosts with two ports; on one port it is as fast as the ring",
      .make_for_many = make_bidirectional_ring,
      .granule_for_many = granule_of_bidirectional_ring,
      .cost_for_many = cost_of_bidirectional_ring,
  };
}

Algorithm multi_ring_all_reduce() {
  return {
      .name = "multi_ring",
      .kind = CollectiveKind::all_reduce,
      .summary =
          "rings that share no link, with strides that have no divisor in common with P (as many as there are, at most "
          "8 or as asked for), or four in a torus of two dimensions; for ranks with several ports",
      .formula = "2(P-1) alpha + 2 (P-1)/(P R) n beta + (P-1)/P n gamma for R rings, beta that of one of R ports",
      .source =
          "Bae, AlBdaiwi and Bose, Edge-disjoint Hamiltonian cycles in two-dimensional torus, 2004; Hoefler et al., "
          "HammingMesh: a network topology for large-scale deep learning, 2022",
      .explanation =
          "R rings take a share of the payload each, and no two use the same link: on ranks that all reach each other "
          "the rings stride by numbers that have no divisor in common with P, both ways; in a torus of two dimensions "
          "a x b there are four, two Hamiltonian cycles both ways.",
      .ranks =
          "any number of ranks (at most phi(P) rings, Euler's function, and 8 or as asked for); with dimensions a >= b "
          ">= 3 where b divides a, and a and b-1 have no common divisor",
      .fabrics = "ranks with several ports: GPUs joined pairwise, or a torus of two dimensions",
      .takes_dimensions = true,
      .make_for_many = make_schedule<MultiRing>,
      .granule_for_many = granule_of_multi_ring,
      .cost_in_shape = cost_of_schedule<MultiRing>,
      .refuses_many = refuse_multi_ring,
  };
}

}  // namespace athanor
