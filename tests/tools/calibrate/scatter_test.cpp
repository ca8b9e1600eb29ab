#include "tools/calibrate/pool/scatter.hpp"

#include <cmath>

#include <doctest/doctest.h>

using namespace athanor;

TEST_CASE("an interval leaves room for what a further row may be") {
  // A further row lies beyond the 46th of 50 with a chance of 5 in 51: of the claimed tenth no more, and beyond the
  // 45th it would be 6 in 51.
  std::vector<HeldOutError> rows;
  for (int i = 0; i < 50; ++i) { rows.push_back({static_cast<std::size_t>(i), "s", (i - 25) / 100.0}); }
  const Scatter scatter = scatter_of(rows);
  CHECK(std::log(scatter.high) == doctest::Approx(0.20));
  CHECK(std::log(scatter.low) == doctest::Approx(-0.21));
  CHECK(scatter.tables == 50);
}

TEST_CASE("rows of a table that are off alike count as one") {
  std::vector<HeldOutError> alike;
  std::vector<HeldOutError> independent;
  for (int table = 0; table < 10; ++table) {
    for (int row = 0; row < 20; ++row) {
      alike.push_back({static_cast<std::size_t>(table), "s", (table - 5) / 10.0});
      independent.push_back({static_cast<std::size_t>(table), "s", (row - 10) / 10.0});
    }
  }
  // Of ten that count no one can be left out: the next is beyond them with a chance of 1 in 11.
  CHECK(std::log(scatter_of(alike).high) == doctest::Approx(0.4));
  CHECK(std::log(scatter_of(alike).low) == doctest::Approx(-0.5));
  CHECK(std::log(scatter_of(independent).high) == doctest::Approx(0.8));
}
