#include "models/network/flow_network.hpp"

#include <doctest/doctest.h>

#include "sim/error.hpp"
#include "tests/models/network_rig.hpp"

namespace athanor::test {

using namespace literals;

TEST_CASE("a flow alone takes its latency and size / the slowest of its cap and links, to the picosecond") {
  for (const std::int64_t size : {0, 1, 2, 3, 1000, 4097, 1 << 30}) {
    for (const Bandwidth cap : {Bandwidth{301}, Bandwidth{7'000'000'001}, Bandwidth::max()}) {
      CAPTURE(size);
      CAPTURE(cap.count());
      FlowGraph plan = links_of({12.5_GBps, Bandwidth{9'999'999'999}, 25_GBps});
      add_connection(plan, {{0}, {1}, {2}}, 2_us, cap);
      Rig<FlowNetwork> rig(plan);
      rig.move_at(5_us, 0, Bytes{size});
      rig.simulator.run();
      const Bandwidth slowest = std::min(cap, Bandwidth{9'999'999'999});
      const Time injected = 5_us + (size == 0 ? 0_ps : time_at(Bytes{size}, slowest));
      CHECK(rig.of(0).injected == std::vector{injected});
      CHECK(rig.of(0).delivered == std::vector{injected + 2_us});
      CHECK(rig.network.carried(LinkIndex{1}) == Bytes{size});
    }
  }
}

TEST_CASE("n equal flows on one link take n times as long as one") {
  for (const std::uint32_t n : {1U, 2U, 3U, 7U, 64U, 100U}) {
    CAPTURE(n);
    FlowGraph plan = links_of({Bandwidth{10'000'000'000} * n});
    for (std::uint32_t c = 0; c < n; ++c) { add_connection(plan, {{0}}, 1_us); }
    Rig<FlowNetwork> rig(plan);
    for (std::uint32_t c = 0; c < n; ++c) { rig.move_at(0_ps, c, 1_MiB); }
    rig.simulator.run();
    for (std::uint32_t c = 0; c < n; ++c) { CHECK(rig.of(c).delivered == std::vector{time_at(1_MiB, 10_GBps) + 1_us}); }
    CHECK(rig.network.carried(LinkIndex{0}) == 1_MiB * n);
  }
}

}  // namespace athanor::test
