#include "tools/calibrate/pool/scatter.hpp"

#include <cmath>

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace athanor;

TEST_CASE("of many stacks an interval is where eight of ten errors lie") {
  std::vector<HeldOutError> rows;
  constexpr int kStacks = 2'000;
  for (int i = 0; i < kStacks; ++i) {
    rows.push_back({static_cast<std::size_t>(i), fmt::format("stack {}", i), (i + 0.5) / kStacks});
  }
  const Scatter scatter = scatter_of(rows);
  CHECK(std::log(scatter.low) == doctest::Approx(0.1).epsilon(0.02));
  CHECK(std::log(scatter.high) == doctest::Approx(0.9).epsilon(0.02));
  CHECK(scatter.tables == kStacks);
}

TEST_CASE("of three stacks it is wider than what they scattered, as Student's t says") {
  // 90 % of Student's t with two degrees of freedom: sqrt(2) x 0.8 / sqrt(1 - 0.8 x 0.8) = 1.8856.
  const Scatter scatter = scatter_of({{0, "a", -0.1}, {1, "b", 0}, {2, "c", 0.1}});
  const double widened = 1.8856 * std::sqrt(1 + 1.0 / 3) / 1.28155;
  CHECK(std::log(scatter.low) == doctest::Approx(-0.1 * widened).epsilon(1e-3));
  CHECK(std::log(scatter.high) == doctest::Approx(0.1 * widened).epsilon(1e-3));
}

TEST_CASE("rows of a stack that are all off alike count as one") {
  std::vector<HeldOutError> rows;
  for (int i = 0; i < 30; ++i) {
    const int stack = i / 10;
    rows.push_back({static_cast<std::size_t>(stack), fmt::format("stack {}", stack), 0.1 * (stack - 1)});
  }
  const Scatter three = scatter_of({{0, "a", -0.1}, {1, "b", 0}, {2, "c", 0.1}});
  CHECK(scatter_of(rows).high == doctest::Approx(three.high));
}
