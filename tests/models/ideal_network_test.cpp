#include "models/network/ideal_network.hpp"

#include <doctest/doctest.h>

#include "tests/models/network_rig.hpp"

namespace athanor::test {

using namespace literals;

TEST_CASE("without contention every flow takes what it takes alone, however many there are") {
  for (const std::uint32_t n : {1U, 2U, 7U, 100U}) {
    CAPTURE(n);
    FlowGraph plan = links_of({10_GBps, 40_GBps});
    for (std::uint32_t c = 0; c < n; ++c) { add_connection(plan, {{0, 3}, {1}}, 1_us); }
    Rig<IdealNetwork> rig(plan);
    for (std::uint32_t c = 0; c < n; ++c) { rig.move_at(0_ps, c, 1_MiB); }
    rig.simulator.run();
    for (std::uint32_t c = 0; c < n; ++c) {
      CHECK(rig.of(c).injected == std::vector{time_at(1_MiB, 10_GBps)});
      CHECK(rig.of(c).delivered == std::vector{time_at(1_MiB, 10_GBps) + 1_us});
    }
    CHECK(rig.network.carried(LinkIndex{0}) == 1_MiB * n * 3);
    CHECK(rig.network.carried(LinkIndex{1}) == 1_MiB * n);
  }
}

}  // namespace athanor::test
