#include "algorithms/catalog.hpp"
#include "algorithms/patterns/reversible.hpp"
#include "algorithms/schedule/reversed.hpp"

namespace athanor {

namespace {

/// Chunks follow each other along the ring from the rank after the root, each rank adding its own, to the root.
std::unique_ptr<const Schedule> make(const Collective& collective, const Layout& layout) {
  return reversed(ring_broadcast_schedule(dual_of(collective), layout, Direction::backwards), collective);
}

Cost cost(const Collective& collective) { return {collective.ranks - 1, collective.count, collective.count}; }

}  // namespace

Algorithm ring_reduce() {
  return {
      .name = "ring",
      .kind = CollectiveKind::reduce,
      .summary = "chunks follow each other along a ring to the root; for large payloads",
      .formula = "(P-2+k) (alpha + n/k (beta + gamma)) in k chunks",
      .source = "NCCL, src/device/reduce.h",
      .explanation =
          "Chunks follow each other along a ring to the root, and every rank adds its own. With enough chunks every "
          "link is busy all the time.",
      .ranks = "any number of ranks",
      .fabrics = "large payloads on any fabric; needs many chunks",
      .pipelines = true,
      .make_for_many = make,
      .granule_for_many = granule_of_whole,
      .cost_for_many = cost,
  };
}

}  // namespace athanor
