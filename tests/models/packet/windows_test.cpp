#include <doctest/doctest.h>

#include "tests/models/packet/random_packets.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::test;

TEST_CASE("random fabrics, every congestion control: results do not depend on the length of the windows") {
  for (const ControlEntry& control : congestion_controls()) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      CAPTURE(control.words.name);
      CAPTURE(seed);
      const Outcome whole = outcome(seed, control, {});
      CHECK(whole.counted.front() > 0);
      for (const Time window : {170_ns, 33_ns, 1_ns}) { CHECK(outcome(seed, control, {window}) == whole); }
    }
  }
}
