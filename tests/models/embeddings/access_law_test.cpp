#include "models/embeddings/access_law.hpp"

#include <cmath>

#include <doctest/doctest.h>

using namespace athanor;

namespace {

double summed(std::uint64_t n, double exponent) {
  double sum = 0;
  for (std::uint64_t k = n; k > 0; --k) { sum += std::pow(static_cast<double>(k), -exponent); }
  return sum;
}

/// Rows one by one.
double distinct_one_by_one(std::uint64_t rows, double exponent, double lookups) {
  const double all = summed(rows, exponent);
  double sum = 0;
  for (std::uint64_t k = 1; k <= rows; ++k) {
    sum += 1 - std::pow(1 - std::pow(static_cast<double>(k), -exponent) / all, lookups);
  }
  return sum;
}

double share_of_all(const AccessLaw& law) {
  double sum = 0;
  for (const AccessGroup& group : law.groups()) { sum += group.rows * group.share; }
  return sum;
}

}  // namespace

TEST_CASE("generalized harmonic numbers are the sums of their terms") {
  for (const double exponent : {0.3, 1.0, 1.05, 2.5}) {
    for (const std::uint64_t n : {1U, 2U, 64U, 65U, 1000U, 100'000U}) {
      CAPTURE(exponent);
      CAPTURE(n);
      CHECK(generalized_harmonic(n, exponent) == doctest::Approx(summed(n, exponent)).epsilon(1e-12));
    }
  }
  CHECK(generalized_harmonic(1'000'000'000'000, 2) == doctest::Approx(1.6449340668482264 - 1e-12).epsilon(1e-13));
}

TEST_CASE("the most popular rows get H(k) / H(n) of the look-ups") {
  const AccessLaw law = AccessLaw::zipf(4, 1);
  CHECK(law.top_share(0) == 0);
  CHECK(law.top_share(1) == doctest::Approx(12.0 / 25).epsilon(1e-15));
  CHECK(law.top_share(2) == doctest::Approx(18.0 / 25).epsilon(1e-15));
  CHECK(law.top_share(3) == doctest::Approx(22.0 / 25).epsilon(1e-15));
  CHECK(law.top_share(4) == 1);
  CHECK(law.top_share(99) == 1);
  const AccessLaw large = AccessLaw::zipf(40'000'000, 1.05);
  CHECK(large.top_share(400'000) == doctest::Approx(summed(400'000, 1.05) / summed(40'000'000, 1.05)).epsilon(1e-12));
  CHECK(AccessLaw::uniform(8).top_share(2) == 0.25);
}

TEST_CASE("groups of rows share all look-ups") {
  CHECK(share_of_all(AccessLaw::uniform(7)) == doctest::Approx(1).epsilon(1e-14));
  for (const std::uint64_t rows : {1U, 511U, 512U, 513U, 5000U, 40'000'000U}) {
    CAPTURE(rows);
    CHECK(share_of_all(AccessLaw::zipf(rows, 1.1)) == doctest::Approx(1).epsilon(1e-12));
  }
  const AccessLaw counted = AccessLaw::counted({0, 5, 1, 5, 0, 1});
  CHECK(counted.rows() == 6);
  CHECK(counted.groups() == std::vector<AccessGroup>{{2, 5.0 / 12}, {2, 1.0 / 12}, {2, 0}});
  CHECK(counted.top_share(1) == 5.0 / 12);
  CHECK(counted.top_share(4) == doctest::Approx(1).epsilon(1e-15));
}

TEST_CASE("a batch names as many different rows as each of them is expected to be among its look-ups") {
  CHECK(AccessLaw::uniform(1).distinct(10) == 1);
  CHECK(AccessLaw::uniform(2).distinct(1) == doctest::Approx(1).epsilon(1e-15));
  CHECK(AccessLaw::uniform(2).distinct(2) == doctest::Approx(1.5).epsilon(1e-15));
  CHECK(AccessLaw::counted({3, 1}).distinct(2) == doctest::Approx((1 - 1.0 / 16) + (1 - 9.0 / 16)).epsilon(1e-15));
  CHECK(AccessLaw::counted({3, 1}).distinct_beyond(2, 1) == doctest::Approx(1 - 9.0 / 16).epsilon(1e-15));
  for (const double exponent : {0.8, 1.05, 2.0}) {
    CAPTURE(exponent);
    const double expected = distinct_one_by_one(50'000, exponent, 20'000);
    CHECK(AccessLaw::zipf(50'000, exponent).distinct(20'000) == doctest::Approx(expected).epsilon(1e-4));
  }
}
