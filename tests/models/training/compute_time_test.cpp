#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "models/training/parameter_server/parameter_server.hpp"
#include "sim/error.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

std::vector<Time> drawn(const ComputeTime& time, int count = 100'000) {
  RandomStream stream(7, "drawn");
  std::vector<Time> list;
  for (int i = 0; i < count; ++i) { list.push_back(draw(time, stream)); }
  std::sort(list.begin(), list.end());
  return list;
}

double mean_us(const std::vector<Time>& list) {
  double sum = 0;
  for (const Time time : list) { sum += microseconds(time); }
  return sum / static_cast<double>(list.size());
}

double quantile_us(const std::vector<Time>& list, double q) {
  return microseconds(list[static_cast<std::size_t>(q * static_cast<double>(list.size()))]);
}

}  // namespace

TEST_CASE("the logarithm of random bits is right to the last of its 32 binary digits") {
  for (int shift = 0; shift < 64; ++shift) {
    if (shift > 0) { CHECK(minus_log2(std::uint64_t{1} << shift | 1) <= (std::uint64_t(64 - shift) << 32U)); }
  }
  CHECK(minus_log2(1) == std::uint64_t{64} << 32U);
  RandomStream stream(1, "bits");
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t bits = stream.bits() >> (i % 60);
    const double exact = 64 - std::log2(static_cast<double>(bits | 1U));
    CHECK(std::ldexp(static_cast<double>(minus_log2(bits)), -32) == doctest::Approx(exact).epsilon(1e-9));
  }
}

TEST_CASE("a time is multiplied by any power of two") {
  CHECK(times_power_of_two(3_us, 0) == 3_us);
  CHECK(times_power_of_two(3_us, std::uint64_t{5} << 32U) == 96_us);
  CHECK(times_power_of_two(Time::zero(), 1U << 31U) == Time::zero());
  for (std::uint64_t exponent = 1; exponent < std::uint64_t{20} << 32U; exponent = exponent * 7 / 3 + 1) {
    const double exact = std::exp2(std::ldexp(static_cast<double>(exponent), -32)) * 1e6;
    CHECK(microseconds(times_power_of_two(1_s, exponent)) == doctest::Approx(exact).epsilon(1e-11));
  }
  CHECK_THROWS_AS(times_power_of_two(1_s * 1'000, std::uint64_t{30} << 32U), SimulationError);
}

TEST_CASE("a constant time is drawn as it is") {
  const std::vector<Time> list = drawn({.mean = 5_us}, 10);
  CHECK(list.front() == 5_us);
  CHECK(list.back() == 5_us);
}

TEST_CASE("normal times have their mean and deviation, and are never negative") {
  const std::vector<Time> list = drawn({.kind = ComputeTime::Kind::normal, .mean = 100_us, .deviation = 10_us});
  CHECK(mean_us(list) == doctest::Approx(100).epsilon(0.002));
  CHECK(quantile_us(list, 0.5) == doctest::Approx(100).epsilon(0.002));
  CHECK(quantile_us(list, 0.8413) == doctest::Approx(110).epsilon(0.003));
  CHECK(quantile_us(list, 0.0228) == doctest::Approx(80).epsilon(0.005));
  const std::vector<Time> wide = drawn({.kind = ComputeTime::Kind::normal, .mean = 1_us, .deviation = 10_us}, 1'000);
  CHECK(wide.front() == Time::zero());
}

TEST_CASE("exponential times have their least, their mean and their tail") {
  const std::vector<Time> list = drawn({.kind = ComputeTime::Kind::exponential, .mean = 100_us, .least = 40_us});
  CHECK(list.front() >= 40_us);
  CHECK(mean_us(list) == doctest::Approx(100).epsilon(0.01));
  CHECK(quantile_us(list, 0.5) == doctest::Approx(40 + 60 * std::log(2.0)).epsilon(0.01));
  CHECK(quantile_us(list, 0.99) == doctest::Approx(40 + 60 * std::log(100.0)).epsilon(0.03));
}

TEST_CASE("pareto times have their mean and a tail that falls as a power") {
  const std::vector<Time> list = drawn({.kind = ComputeTime::Kind::pareto, .mean = 100_us, .shape = {3, 1}});
  const double least = 100 * 2.0 / 3;
  CHECK(microseconds(list.front()) >= least - 1e-6);
  CHECK(mean_us(list) == doctest::Approx(100).epsilon(0.01));
  CHECK(quantile_us(list, 0.5) == doctest::Approx(least * std::cbrt(2.0)).epsilon(0.01));
  CHECK(quantile_us(list, 0.99) == doctest::Approx(least * std::cbrt(100.0)).epsilon(0.03));
}
