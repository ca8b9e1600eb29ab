#include "models/workload/call_shares.hpp"

#include <doctest/doctest.h>

using namespace athanor;

namespace {

using Prices = std::vector<std::vector<LinkShare>>;

/// Of each estimate, where one call of each of `running` runs.
std::vector<double> speeds(const Prices& estimates, const std::vector<std::uint32_t>& running) {
  std::vector<std::uint32_t> most(estimates.size());
  for (const std::uint32_t estimate : running) { ++most[estimate]; }
  CallShares shares(estimates, most);
  for (const std::uint32_t estimate : running) {
    if (!shares.shares_links(estimate)) { continue; }
    shares.start(estimate);
    shares.update(estimate);
  }
  std::vector<double> result;
  for (std::uint32_t estimate = 0; estimate < estimates.size(); ++estimate) {
    result.push_back(shares.speed(estimate));
  }
  return result;
}

}  // namespace

TEST_CASE("calls on different links, or on a link with room for both, go as fast as alone") {
  const Prices apart{{{0, 1}}, {{1, 1}}};
  CHECK(speeds(apart, {0, 1}) == std::vector<double>{1, 1});
  CHECK_FALSE(CallShares({{{0, 0.5}}, {{0, 0.4}}}, {1, 1}).shares_links(0));
}

TEST_CASE("two calls that each fill a link get half of it, three a third") {
  CHECK(speeds({{{0, 1}}, {{0, 1}}}, {0, 1}) == std::vector<double>{0.5, 0.5});
  for (const double speed : speeds({{{0, 1}}, {{0, 1}}, {{0, 1}}}, {0, 1, 2})) {
    CHECK(speed == doctest::Approx(1.0 / 3));
  }
}

TEST_CASE("who takes less than an equal part of a link is not slowed down") {
  const std::vector<double> result = speeds({{{0, 0.3}}, {{0, 1}}}, {0, 1});
  CHECK(result[0] == 1);
  CHECK(result[1] == doctest::Approx(0.7));
}

TEST_CASE("what one link slows down leaves room on another") {
  // 0 and 1 meet on link 0, 1 and 2 on link 1: 1 gets a half of link 0 beside 0 and needs 0.4 of link 1.
  const std::vector<double> result = speeds({{{0, 1}}, {{0, 1}, {1, 0.8}}, {{1, 0.6}}}, {0, 1, 2});
  CHECK(result[0] == doctest::Approx(0.5));
  CHECK(result[1] == doctest::Approx(0.5));
  CHECK(result[2] == doctest::Approx(1));
}

TEST_CASE("who is slowed down more on another link is not settled by the first") {
  // Link 0 would let the two calls of estimate 2 go at 0.71, of which link 1 has room for 0.45.
  const std::vector<double> result = speeds({{{0, 1}}, {{0, 1}}, {{0, 0.35}, {1, 1}}, {{1, 0.1}}}, {0, 1, 2, 2, 3});
  CHECK(result[0] == doctest::Approx(0.25));
  CHECK(result[1] == doctest::Approx(0.25));
  CHECK(result[2] == doctest::Approx(0.45));
  CHECK(result[3] == doctest::Approx(1));
}

TEST_CASE("calls of one estimate that run at the same time share with each other") {
  CallShares shares({{{0, 0.8}}}, {2});
  REQUIRE(shares.shares_links(0));
  shares.start(0);
  shares.update(0);
  CHECK(shares.speed(0) == 1);
  shares.start(0);
  shares.update(0);
  CHECK(shares.speed(0) == doctest::Approx(0.625));
  shares.end(0);
  shares.update(0);
  CHECK(shares.speed(0) == 1);
}

TEST_CASE("how often calls of an estimate may run at once decides whether a link may be short") {
  CHECK_FALSE(CallShares({{{0, 0.3}}}, {3}).shares_links(0));
  CHECK(CallShares({{{0, 0.3}}}, {4}).shares_links(0));
  const CallShares beside({{{0, 0.3}}, {{0, 0.05}}}, {3, 3});
  CHECK(beside.shares_links(0));
  CHECK(beside.shares_links(1));
}

TEST_CASE("links that are shared alike are one row") {
  Prices estimates(2);
  for (std::uint32_t link = 0; link < 1000; ++link) {
    estimates[0].push_back({link, 0.9});
    estimates[1].push_back({link, link % 2 == 0 ? 0.5 : 0.25});
  }
  CHECK(CallShares(estimates, {1, 1}).rows() == 2);
}
