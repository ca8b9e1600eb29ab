#include "models/jobs/data/share_rates.hpp"

#include <algorithm>
#include <random>

#include <doctest/doctest.h>

using namespace athanor;

TEST_CASE("those who use less than their share leave the rest to the others, by weight") {
  const auto rates = share_rates({{1, 10, {{0, 1}}}, {1, 100, {{0, 1}}}, {2, 100, {{0, 1}}}}, {100});
  CHECK(rates[0] == doctest::Approx(10));
  CHECK(rates[1] == doctest::Approx(30));
  CHECK(rates[2] == doctest::Approx(60));
}

TEST_CASE("nobody gets less than it could use unless a resource is used up on which nobody else has more") {
  std::mt19937_64 random(3);
  const auto draw = [&](double most) { return most * static_cast<double>(random() % 1000 + 1) / 1000; };
  for (int round = 0; round < 300; ++round) {
    std::vector<double> capacities;
    for (int r = 0; r < 4; ++r) { capacities.push_back(draw(100)); }
    std::vector<RateClaim> claims;
    for (int c = 0; c < 6; ++c) {
      RateClaim claim{draw(4), draw(100), {}};
      for (std::uint32_t r = 0; r < 4; ++r) {
        if (random() % 2 == 0) { claim.takes.emplace_back(r, draw(2)); }
      }
      claims.push_back(claim);
    }
    const auto rates = share_rates(claims, capacities);
    std::vector<double> used(4);
    for (std::size_t c = 0; c < claims.size(); ++c) {
      for (const auto& [r, each] : claims[c].takes) { used[r] += each * rates[c]; }
    }
    for (std::size_t r = 0; r < 4; ++r) { CHECK(used[r] <= capacities[r] * (1 + 1e-9)); }
    for (std::size_t c = 0; c < claims.size(); ++c) {
      if (rates[c] >= claims[c].most * (1 - 1e-9)) { continue; }
      const bool held_back = std::any_of(claims[c].takes.begin(), claims[c].takes.end(), [&](const auto& take) {
        if (used[take.first] < capacities[take.first] * (1 - 1e-9)) { return false; }
        for (std::size_t other = 0; other < claims.size(); ++other) {
          const bool there = std::any_of(claims[other].takes.begin(), claims[other].takes.end(),
                                         [&](const auto& t) { return t.first == take.first; });
          if (there && rates[other] / claims[other].weight > rates[c] / claims[c].weight * (1 + 1e-9)) { return false; }
        }
        return true;
      });
      CHECK(held_back);
    }
  }
}
