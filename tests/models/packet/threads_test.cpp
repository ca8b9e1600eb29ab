#include <doctest/doctest.h>

#include "tests/models/packet/random_packets.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::test;

TEST_CASE("random fabrics, every congestion control: results do not depend on the number of threads") {
  for (const ControlEntry& control : congestion_controls()) {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      CAPTURE(control.words.name);
      CAPTURE(seed);
      const Outcome alone = outcome(seed, control, {});
      CHECK(alone.counted.front() > 0);
      for (const std::uint32_t threads : {2U, 3U, 8U}) {
        CHECK(outcome(seed, control, {Time::max(), threads, true}) == alone);
      }
      CHECK(outcome(seed, control, {Time::max(), 2, false}) == alone);
    }
  }
}
