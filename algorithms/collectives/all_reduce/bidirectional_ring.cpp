#include "algorithms/patterns/cycle_all_reduce.hpp"

namespace athanor {

namespace {

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

std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return std::make_unique<BidirectionalRing>(collective, both_directions(layout));
}

Elements granule(const Collective& collective, const Layout& layout) {
  return VectorCut::granule(collective.ranks, both_directions(layout));
}

Cost cost(const Collective& collective) { return BidirectionalRing(collective, both_directions({})).cost(); }

}  // namespace

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
      .make_for_many = make,
      .granule_for_many = granule,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
