#include <numeric>

#include <doctest/doctest.h>

#include "models/network/max_min_shares.hpp"
#include "sim/error.hpp"
#include "tests/models/naive_max_min.hpp"

namespace athanor::test {

using namespace literals;

namespace {

/// Exact fractions, for as few stages as the systems here have.
struct Fraction {
  Wide above = 0;
  Wide below = 1;

  Fraction() = default;
  explicit Fraction(Wide whole) : above(whole) {}
  Fraction(Wide a, Wide b) : above(a / common(a, b)), below(b / common(a, b)) {}
  static Wide common(Wide a, Wide b) { return b == 0 ? a : common(b, a % b); }
  Fraction operator*(Fraction o) const { return {above * o.above, below * o.below}; }
  Fraction operator-(Fraction o) const { return {above * o.below - o.above * below, below * o.below}; }
  Fraction operator/(std::int64_t n) const { return {above, below * n}; }
  bool operator==(Fraction o) const { return above == o.above && below == o.below; }
  bool operator<(Fraction o) const { return above * o.below < o.above * below; }
};

std::vector<Fraction> exact_rates(const FlowGraph& plan, const std::vector<bool>& active) {
  return fill_progressively<Fraction>(
      plan, active, [](Fraction remaining, std::int64_t n) { return n == 0 ? Fraction(INT64_MAX) : remaining / n; });
}

std::vector<FineRate> rates_of(const MaxMinShares& shares, const FlowGraph& plan) {
  std::vector<FineRate> rates;
  for (const ConnectionId c : plan.connections.ids()) { rates.push_back(shares.rate(c)); }
  return rates;
}

std::vector<FineRate> rates_when_all_start(const FlowGraph& plan) {
  MaxMinShares shares(plan);
  for (const ConnectionId c : plan.connections.ids()) { shares.start(c); }
  shares.update();
  return rates_of(shares, plan);
}

FineRate fine(Bandwidth rate) { return rate.count() * kFinePerByte; }

void check_links(const MaxMinShares& shares, const FlowGraph& plan) {
  IdVector<LinkIndex, FineRate> used(plan.links.size());
  for (const ConnectionId c : plan.connections.ids()) {
    const FlowGraph::Connection& connection = plan.connections[c];
    for (std::uint32_t u = 0; u < connection.uses; ++u) {
      const FlowGraph::Use& use = plan.uses[connection.first_use + u];
      used[use.link] += shares.rate(c) * use.flows;
    }
  }
  for (const LinkIndex l : plan.links.ids()) {
    CHECK(shares.used(l) == used[l]);
    CHECK(used[l] <= fine(plan.links[l].rate));
  }
}

}  // namespace

TEST_CASE("the textbook example: what a limited flow leaves goes to the others on its links") {
  // Four flows, links of 10, 20 and 30 GB/s: A and B share the first, B and C the second, C and D the third.
  FlowGraph plan = links_of({10_GBps, 20_GBps, 30_GBps});
  add_connection(plan, {{0}});
  add_connection(plan, {{0}, {1}});
  add_connection(plan, {{1}, {2}});
  add_connection(plan, {{2}});
  const std::vector expected{fine(5_GBps), fine(5_GBps), fine(15_GBps), fine(15_GBps)};
  CHECK(rates_when_all_start(plan) == expected);
}

TEST_CASE("in a parking lot the flow over all links gets no less than one over a single link") {
  for (const std::uint32_t links : {1U, 2U, 3U, 5U, 17U}) {
    FlowGraph plan = links_of(std::vector<Bandwidth>(links, 12_GBps));
    std::vector<Crossing> all;
    for (std::uint32_t l = 0; l < links; ++l) { all.push_back({l}); }
    add_connection(plan, all);
    for (std::uint32_t l = 0; l < links; ++l) { add_connection(plan, {{l}}); }
    CHECK(rates_when_all_start(plan) == std::vector<FineRate>(links + 1, fine(6_GBps)));
  }
}

TEST_CASE("a cap below the fair share is kept to, and what it leaves is shared by the rest") {
  FlowGraph plan = links_of({12_GBps});
  add_connection(plan, {{0}}, 0_ps, 2_GBps);
  add_connection(plan, {{0}}, 0_ps, 11_GBps);
  add_connection(plan, {{0}});
  CHECK(rates_when_all_start(plan) == std::vector{fine(2_GBps), fine(5_GBps), fine(5_GBps)});
}

TEST_CASE("rates differ from the exact rational max-min solution by no more units than there are flows") {
  Random random(7);
  for (int system = 0; system < 300; ++system) {
    CAPTURE(system);
    const FlowGraph plan = random_plan(random, 6, 14, 1'000'000'000, 100'000'000'000);
    const std::vector<FineRate> rates = rates_when_all_start(plan);
    const std::vector<Fraction> exact = exact_rates(plan, std::vector<bool>(rates.size(), true));
    const auto flows = static_cast<FineRate>(rates.size());
    for (std::size_t c = 0; c < rates.size(); ++c) {
      CHECK_FALSE(Fraction(rates[c] + flows) < exact[c]);
      CHECK_FALSE(exact[c] < Fraction(rates[c] - flows));
    }
  }
}

TEST_CASE("after any starts and stops the rates are, bit for bit, those of filling from scratch") {
  Random random(11);
  for (int system = 0; system < 400; ++system) {
    CAPTURE(system);
    const std::int64_t most_rate = system % 2 == 0 ? 4 : 1'000'000'000;
    const FlowGraph plan = random_plan(random, 9, 24, 1, most_rate, system % 3 == 0 ? 3 : 1);
    MaxMinShares shares(plan);
    std::vector<bool> active(plan.connections.size());
    for (int round = 0; round < 12; ++round) {
      const std::int64_t changes = random.between(0, round % 4 == 0 ? 12 : 2);
      for (std::int64_t k = 0; k < changes; ++k) {
        const auto c = static_cast<std::uint32_t>(random.between(0, static_cast<std::int64_t>(active.size()) - 1));
        active[c] = !active[c];
        active[c] ? shares.start(ConnectionId{c}) : shares.stop(ConnectionId{c});
      }
      const std::vector<FineRate> before = rates_of(shares, plan);
      const std::vector<ConnectionId> changed = shares.update();
      const std::vector<FineRate> expected = whole_rates(plan, active);
      REQUIRE(rates_of(shares, plan) == expected);
      check_links(shares, plan);
      for (std::uint32_t c = 0; c < active.size(); ++c) {
        const bool told = std::find(changed.begin(), changed.end(), ConnectionId{c}) != changed.end();
        if (active[c]) { CHECK(told == (before[c] != expected[c])); }
      }
    }
  }
}

TEST_CASE("a newcomer that fits into what rounding left over gets what filling from scratch would give it") {
  // 1,024 units for three: 341 each from scratch. Two that others hold at 341 leave 342, which is the newcomer's limit.
  FlowGraph plan = links_of({Bandwidth{1}, Bandwidth{1}, Bandwidth{1}, Bandwidth{100}});
  add_connection(plan, {{0}, {1, 3}});
  add_connection(plan, {{0}, {2, 3}});
  add_connection(plan, {{0}, {3, 299}});
  MaxMinShares shares(plan);
  shares.start(ConnectionId{0});
  shares.start(ConnectionId{1});
  shares.update();
  shares.start(ConnectionId{2});
  shares.update();
  CHECK(rates_of(shares, plan) == std::vector<FineRate>(3, 341));
  CHECK(rates_of(shares, plan) == whole_rates(plan, {true, true, true}));
}

TEST_CASE("a newcomer on a link that has just a unit left for each of its flows gets what that comes to") {
  // 1,024 units: 31 x 32 are taken by what another link holds, and 32 flows are to be spared one each.
  FlowGraph plan = links_of({Bandwidth{1}, Bandwidth{1}});
  add_connection(plan, {{0, 31}, {1, 32}});
  add_connection(plan, {{0}});
  MaxMinShares shares(plan);
  shares.start(ConnectionId{0});
  shares.update();
  shares.start(ConnectionId{1});
  shares.update();
  CHECK(rates_of(shares, plan) == std::vector<FineRate>{32, 32});
}

TEST_CASE("the order of connections and links does not change a bit") {
  Random random(13);
  for (int system = 0; system < 100; ++system) {
    const FlowGraph plan = random_plan(random, 8, 20, 1, 5);
    std::vector<std::uint32_t> link_at(plan.links.size());
    std::vector<std::uint32_t> connection_at(plan.connections.size());
    std::iota(link_at.begin(), link_at.end(), 0U);
    std::iota(connection_at.begin(), connection_at.end(), 0U);
    random.shuffle(link_at);
    random.shuffle(connection_at);
    FlowGraph shuffled = plan;
    for (std::uint32_t l = 0; l < link_at.size(); ++l) {
      shuffled.links[LinkIndex{link_at[l]}] = plan.links[LinkIndex{l}];
    }
    for (FlowGraph::Use& use : shuffled.uses) { use.link = LinkIndex{link_at[use.link.value]}; }
    for (std::uint32_t c = 0; c < connection_at.size(); ++c) {
      shuffled.connections[ConnectionId{connection_at[c]}] = plan.connections[ConnectionId{c}];
    }
    const std::vector<FineRate> rates = rates_when_all_start(plan);
    const std::vector<FineRate> others = rates_when_all_start(shuffled);
    for (std::uint32_t c = 0; c < connection_at.size(); ++c) { CHECK(others[connection_at[c]] == rates[c]); }
  }
}

TEST_CASE("a link that more flows share than it has units of rate is refused by name") {
  FlowGraph plan = links_of({Bandwidth{1}});
  for (std::uint32_t c = 0; c < 2; ++c) { add_connection(plan, {{0, 600}}); }
  CHECK_THROWS_AS(rates_when_all_start(plan), SimulationError);
}

TEST_CASE("a link faster than whole numbers can share out is refused by name") {
  const FlowGraph plan = links_of({Bandwidth{4'000'000'000'000'001}});
  CHECK_THROWS_AS(MaxMinShares{plan}, SimulationError);
}

}  // namespace athanor::test
