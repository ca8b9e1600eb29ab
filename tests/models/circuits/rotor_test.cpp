#include "models/circuits/rotor.hpp"

#include <doctest/doctest.h>

#include "sim/error.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

constexpr std::uint32_t kRanks = 9;

CircuitSwitch switches(std::uint32_t ports) {
  return {.ports = ports, .rate = 10_GBps, .latency = 1_us, .delay = 10_us};
}

CircuitDemand even(std::int64_t bytes) { return CircuitDemand(kRanks, std::vector<std::int64_t>(kRanks, bytes)); }

CircuitDemand to_the_fourth(std::int64_t bytes) {
  CircuitDemand demand(kRanks, std::vector<std::int64_t>(kRanks));
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) { demand[rank][(rank + 4) % kRanks] = bytes; }
  return demand;
}

}  // namespace

// A slot of 100 us carries 90 us of 10 GB/s: 900,000 bytes; eight matchings go round over the ports.
TEST_CASE("an even demand is there when all matchings have come as often as it needs") {
  for (const std::uint32_t ports : {1U, 2U, 4U, 8U}) {
    CAPTURE(ports);
    const std::int64_t cycle = 8 / ports;
    const RotorRun one = run_rotor(even(500'000), switches(ports), {100_us});
    CHECK(one.slots == static_cast<std::uint64_t>(cycle));
    CHECK(one.time == 100_us * (cycle - 1) + 10_us + 50_us + 1_us);
    const RotorRun three = run_rotor(even(2'000'000), switches(ports), {100_us});
    CHECK(three.slots == static_cast<std::uint64_t>(3 * cycle));
    CHECK(three.time == 100_us * (3 * cycle - 1) + 10_us + 20_us + 1_us);
    CHECK(three.direct == 1);
  }
}

// Shift 4 is the fourth slot of each cycle of eight.
TEST_CASE("a demand between the same pairs waits for their matching, or goes by detours at half the rate") {
  const RotorRun waits = run_rotor(to_the_fourth(9'000'000), switches(1), {100_us});
  CHECK(waits.time == 100_us * (9 * 8 + 3) + 10_us + 90_us + 1_us);
  const RotorRun detours = run_rotor(to_the_fourth(90'000'000), switches(1), {100_us, true});
  CHECK(detours.direct < 0.25);
  // Each byte goes twice: at least two slots for each that its bytes fill.
  const double slots = 2 * 90'000'000.0 / 900'000;
  CHECK(static_cast<double>(detours.slots) > 0.85 * slots);
  CHECK(static_cast<double>(detours.slots) < 1.25 * slots);
}

TEST_CASE("what circuits lead to in this slot makes no detours") {
  for (const bool indirect : {false, true}) {
    CHECK(run_rotor(even(500'000), switches(8), {100_us, indirect}).time == 10_us + 50_us + 1_us);
  }
}

TEST_CASE("all bytes come, with more switches than matchings too, and a slot has to carry something") {
  CHECK(run_rotor(even(500'000), switches(20), {100_us}).slots == 1);
  CHECK(run_rotor(even(0), switches(1), {100_us}).time == Time::zero());
  CHECK_THROWS_AS(run_rotor(even(1), switches(1), {10_us}), SimulationError);
}
