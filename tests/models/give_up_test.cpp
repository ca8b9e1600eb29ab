#include <algorithm>

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "models/execution/mapped_schedule.hpp"
#include "models/execution/run.hpp"
#include "models/execution/simulate.hpp"
#include "models/software/profile.hpp"
#include "sim/random.hpp"
#include "tests/models/padded_collective.hpp"
#include "tests/models/small_clusters.hpp"
#include "topologies/cluster.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::testing;

namespace {

Simulated simulated(const Algorithm& algorithm, const Collective& collective, const Layout& layout,
                    const Cluster& cluster, const SimulationOptions& options) {
  const auto schedule = algorithm.make(collective, layout);
  const Placement placement{{cluster.endpoints.begin(), cluster.endpoints.begin() + collective.ranks}, 3};
  UniformCosts costs;
  costs.connection_cost.wire_numerator = 3;
  costs.connection_cost.wire_denominator = 2;
  return simulate(*schedule, cluster, placement, costs, options);
}

Protocol of_wire_bytes(std::string name, Ratio payload, Time overhead) {
  Protocol protocol;
  protocol.name = std::move(name);
  protocol.payload = payload;
  protocol.overhead = overhead;
  protocol.chunk = 64_KiB;
  return protocol;
}

/// One that sends few bytes slowly, and one that sends many at once, as NCCL's Simple and LL.
Profile two_protocols() {
  Profile profile;
  profile.protocols = {of_wire_bytes("many", {1, 2}, 100_ns), of_wire_bytes("few", {1, 1}, 9_us)};
  return profile;
}

}  // namespace

TEST_CASE("a schedule is given up where it takes longer than wanted, never where it does not") {
  const Cluster cluster = square_fat_tree(4, 3_GBps, 400_ns);
  for (const Algorithm& algorithm : catalog()) {
    if (algorithm.engine != Engine::none) { continue; }
    for (const std::int64_t elements : {100, 100'000}) {
      const Layout layout;
      const Collective collective = padded(algorithm, 16, elements, layout);
      if (algorithm.refuses(collective, layout)) { continue; }
      CAPTURE(algorithm.name);
      CAPTURE(name(algorithm.kind));
      for (const bool repeat : {true, false}) {
        SimulationOptions options;
        options.repeat_loops = repeat;
        const Simulated whole = simulated(algorithm, collective, layout, cluster, options);
        CHECK_FALSE(whole.given_up);
        options.give_up_after = whole.time;
        const Simulated just = simulated(algorithm, collective, layout, cluster, options);
        CHECK_FALSE(just.given_up);
        CHECK(just.time == whole.time);
        for (const std::int64_t percent : {0, 30, 99}) {
          options.give_up_after = whole.time * percent / 100;
          const Simulated part = simulated(algorithm, collective, layout, cluster, options);
          CHECK(part.time <= whole.time);
          if (part.given_up) { CHECK(part.time > options.give_up_after); }
          if (!part.given_up) { CHECK(part.time == whole.time); }
        }
      }
    }
  }
}

TEST_CASE("what is given up is never the fastest") {
  const Cluster cluster = square_fat_tree(4, 3_GBps, 400_ns);
  const Profile profile = two_protocols();
  RandomStream random(1, "sizes of candidates");
  const std::vector<const Algorithm*> all = {&find(CollectiveKind::all_reduce, "halving_doubling"),
                                             &find(CollectiveKind::all_reduce, "ring"),
                                             &find(CollectiveKind::all_reduce, "double_binary_tree")};
  std::uint32_t few = 0;
  for (int trial = 0; trial < 40; ++trial) {
    const Collective collective{CollectiveKind::all_reduce, 16, Elements{std::int64_t{1} << (4 + random.below(20))}};
    const auto run = [&](const std::vector<const Algorithm*>& algorithms, std::optional<std::string> protocol) {
      Overrides overrides;
      overrides.protocol = std::move(protocol);
      return run_collective({cluster, profile, collective, Bytes{4}, algorithms, overrides, {}, 1});
    };
    std::vector<RunResult> alone;
    for (const Algorithm* algorithm : all) {
      for (const std::string protocol : {"many", "few"}) { alone.push_back(run({algorithm}, protocol)); }
    }
    const auto best = std::min_element(alone.begin(), alone.end(),
                                       [](const RunResult& a, const RunResult& b) { return a.time < b.time; });
    const RunResult chosen = run(all, {});
    CHECK(chosen.time == best->time);
    CHECK(chosen.algorithm == best->algorithm);
    CHECK(chosen.protocol == best->protocol);
    few += chosen.protocol == "few" ? 1 : 0;
  }
  CHECK(few > 5);
  CHECK(few < 35);
}
