#include "sim/units.hpp"

#include <doctest/doctest.h>

#include "sim/error.hpp"

using namespace athanor;
using namespace athanor::literals;

TEST_CASE("a transfer takes size over rate, rounded up to the picosecond") {
  CHECK(transfer_time(1_GiB, Bandwidth{12'500'000'000}) == Time{85'899'345'920});
  CHECK(transfer_time(0_B, 1_GBps) == 0_ps);
  CHECK(transfer_time(1_B, 3_GBps) == 334_ps);
  CHECK(transfer_time(3_B, 3_GBps) == 1_ns);
}

TEST_CASE("gigabits are an eighth of gigabytes") { CHECK(400_Gbps == 50_GBps); }

TEST_CASE("time that does not fit is refused by name") {
  CHECK_THROWS_AS(Time::max() + 1_ps, SimulationError);
  CHECK_THROWS_AS(transfer_time(Bytes::max(), Bandwidth{1}), SimulationError);
}
