#include <bit>

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "models/execution/simulate.hpp"
#include "tests/models/small_clusters.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::testing;

namespace {

/// Algorithms whose ranks all do the same at the same time, or whose longest chain is that of the busiest rank: there
/// the alpha-beta-gamma form of the catalog is the time.
struct Law {
  CollectiveKind kind;
  std::string_view name;
  bool powers_of_two_only;
};

constexpr Law kLaws[] = {
    {CollectiveKind::all_reduce, "ring", false},
    {CollectiveKind::all_reduce, "recursive_doubling", true},
    {CollectiveKind::all_reduce, "halving_doubling", true},
    {CollectiveKind::reduce_scatter, "ring", false},
    {CollectiveKind::all_gather, "ring", false},
    {CollectiveKind::broadcast, "binomial_tree", true},
    {CollectiveKind::all_to_all, "pairwise", false},
    {CollectiveKind::send_receive, "direct", false},
};

Time simulated(const Algorithm& algorithm, const Collective& collective, const Cluster& cluster,
               const CostModel& costs) {
  const auto schedule = algorithm.make(collective, {});
  const Placement placement{{cluster.endpoints.begin(), cluster.endpoints.begin() + collective.ranks}, 1};
  return simulate(*schedule, cluster, placement, costs, {}).time;
}

}  // namespace

TEST_CASE("without contention an algorithm takes steps x alpha + sent x beta + reduced x gamma") {
  const Bandwidth rate = 10_GBps;
  const Bandwidth reduce_rate = 100_GBps;
  UniformCosts costs;
  costs.agent_cost.reduce_rate = reduce_rate;
  for (const Law& law : kLaws) {
    const Algorithm& algorithm = find(law.kind, law.name);
    for (std::uint32_t ranks = 2; ranks <= 32; ++ranks) {
      if (law.powers_of_two_only && !std::has_single_bit(ranks)) { continue; }
      // Multiples of 5 elements a part take whole picoseconds at these rates: nothing is rounded.
      const Collective collective{law.kind, ranks, Elements{std::int64_t{32} * ranks * 5}};
      const Cluster cluster = star(ranks, rate, 500_ns);
      const Cost cost = algorithm.cost(collective);
      const auto bytes = [](Elements elements) { return Bytes{elements.count() * 4}; };
      CAPTURE(law.name);
      CAPTURE(ranks);
      CHECK(simulated(algorithm, collective, cluster, costs) == 1_us * cost.steps +
                                                                    transfer_time(bytes(cost.sent), rate) +
                                                                    transfer_time(bytes(cost.reduced), reduce_rate));
    }
  }
}
