#include "algorithms/patterns/cycle_all_reduce.hpp"

namespace athanor {

namespace {

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
Cost cost(const Collective& collective) {
  const std::uint32_t ranks = collective.ranks;
  const Elements last = block(collective.count, ranks, ranks - 1).count;
  const Elements last_but_one = block(collective.count, ranks, ranks - 2).count;
  return {2 * (ranks - 1), collective.count * 2 - last - last_but_one, collective.count - last};
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
      .cost_for_many = cost,
  };
}

}  // namespace athanor
