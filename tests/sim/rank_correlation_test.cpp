#include "sim/rank_correlation.hpp"

#include <doctest/doctest.h>

using namespace athanor;

TEST_CASE("ranks correlate fully in the same order, inversely in the reverse one, and ties share their mean rank") {
  CHECK(rank_correlation({1, 2, 30}, {5, 60, 61}) == doctest::Approx(1));
  CHECK(rank_correlation({1, 2, 30}, {61, 60, 5}) == doctest::Approx(-1));
  CHECK(rank_correlation({1, 1, 1}, {1, 2, 3}) == 0);
  // Ranks 1.5, 1.5, 3 and 1, 2, 3: covariance 1.5, variances 1.5 and 2.
  CHECK(rank_correlation({7, 7, 9}, {1, 2, 3}) == doctest::Approx(1.5 / 1.7320508));
  // 1 - 6 sum d^2 / (n (n^2 - 1)) without ties: d = 1, -1, 0, 0.
  CHECK(rank_correlation({1, 2, 3, 4}, {2, 1, 3, 4}) == doctest::Approx(0.8));
}
