#include "sim/units.hpp"

#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/wall_time.hpp"

namespace athanor {

void Picoseconds::overflow() {
  throw SimulationError("time-overflow", "simulated time exceeds 106 days, the most that 64-bit picoseconds can hold");
}

void Microseconds::overflow() {
  throw SimulationError("time-overflow",
                        "simulated time exceeds 292,000 years, the most that 64-bit microseconds can hold");
}

void ByteCount::overflow() { throw SimulationError("size-overflow", "a size exceeds 8 EiB"); }

void BytesPerSecond::overflow() { throw SimulationError("bandwidth-overflow", "a bandwidth exceeds 9.2e18 bytes/s"); }

Time transfer_time(Bytes size, Bandwidth rate) {
  require(size >= Bytes::zero() && rate > Bandwidth::zero(), "no transfer of {} bytes at {} bytes/s", size.count(),
          rate.count());
  constexpr Wide kPicosecondsPerSecond = 1'000'000'000'000;
  const Wide numerator = Wide{size.count()} * kPicosecondsPerSecond;
  const Wide quotient = (numerator + rate.count() - 1) / rate.count();
  if (quotient > INT64_MAX) { Picoseconds::overflow(); }
  return Time{static_cast<std::int64_t>(quotient)};
}

}  // namespace athanor
