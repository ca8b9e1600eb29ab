#include "models/experts/token_routing.hpp"

#include <cmath>
#include <functional>
#include <numeric>

#include <doctest/doctest.h>

#include "models/experts/capacity.hpp"
#include "models/experts/even_limited.hpp"
#include "models/experts/replicas.hpp"
#include "models/experts/set_sums.hpp"
#include "sim/error.hpp"

using namespace athanor;
using doctest::Approx;

namespace {

double binomial(std::uint32_t n, std::uint32_t k) {
  double result = 1;
  for (std::uint32_t i = 0; i < k; ++i) { result *= static_cast<double>(n - i) / (i + 1); }
  return k > n ? 0 : result;
}

/// That `drawn` of groups x each things meet d groups: inclusion and exclusion.
double meets(std::uint32_t groups, std::uint32_t each, std::uint32_t drawn, std::uint32_t d) {
  double sets = 0;
  for (std::uint32_t j = 0; j <= d; ++j) {
    sets += (j % 2 == 0 ? 1 : -1) * binomial(d, j) * binomial((d - j) * each, drawn);
  }
  return binomial(groups, d) * sets / binomial(groups * each, drawn);
}

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

/// The sets of experts that a token may choose, with the product of their weights.
void for_each_set(const TokenRouting& routing, const std::function<void(const std::vector<bool>&, double)>& visit) {
  const auto experts = static_cast<std::uint32_t>(routing.weights.size());
  for (std::uint32_t bits = 0; bits < 1U << experts; ++bits) {
    std::vector<bool> in(experts);
    double product = 1;
    std::uint32_t size = 0;
    for (std::uint32_t e = 0; e < experts; ++e) {
      in[e] = (bits >> e & 1U) != 0;
      size += in[e] ? 1 : 0;
      product *= in[e] ? routing.weights[e] : 1;
    }
    if (size == routing.chosen) { visit(in, product); }
  }
}

}  // namespace

TEST_CASE("a token's different ranks and nodes are hypergeometric: n (1 - C(E - E/n, k) / C(E, k))") {
  for (const std::uint32_t ranks : {1U, 2U, 8U, 16U, 64U}) {
    for (const std::uint32_t chosen : {1U, 2U, 8U}) {
      CAPTURE(ranks);
      const std::uint32_t per_node = std::min(8U, ranks);
      const TokenSpread spread = spread_of(even_routing(256, chosen, ranks), ranks, per_node);
      const auto met = [&](std::uint32_t n) {
        return n * (1 - binomial(256 - 256 / n, chosen) / binomial(256, chosen));
      };
      CHECK(spread.ranks_of_token() == Approx(met(ranks)));
      CHECK(spread.nodes_of_token() == Approx(met(ranks / per_node)));
      CHECK(spread.choices_of_token() == Approx(chosen));
    }
  }
}

TEST_CASE("limited to M of equal nodes, a token reaches the lesser of M and the nodes of its best experts") {
  for (const std::uint32_t nodes : {2U, 4U, 8U}) {
    for (const std::uint32_t most : {1U, 2U, 4U}) {
      TokenRouting routing = even_routing(256, 8, nodes * 8);
      routing.most_nodes = most;
      double expected = 0;
      for (std::uint32_t d = 1; d <= std::min(nodes, 8U); ++d) {
        expected += std::min(most, d) * meets(nodes, 256 / nodes, 8, d);
      }
      CAPTURE(nodes);
      CAPTURE(most);
      CHECK(spread_of(routing, nodes * 8, 8).nodes_of_token() == Approx(expected));
    }
  }
}

TEST_CASE("of one node alone, a token reaches the ranks that its experts are on there") {
  TokenRouting routing = even_routing(64, 4, 16);
  routing.most_nodes = 1;
  // Four of the 32 experts of one node, four on each of its eight ranks.
  CHECK(spread_of(routing, 16, 8).ranks_of_token() == Approx(8 * (1 - binomial(28, 4) / binomial(32, 4))));
}

TEST_CASE("uneven experts are reached as often as sets with one of them weigh, for all sets counted one by one") {
  TokenRouting routing = even_routing(8, 3, 4);
  routing.weights = {9, 1, 4, 2, 1, 1, 0.5, 3};
  for (const std::uint32_t most : {0U, 1U}) {
    routing.most_nodes = most;
    const TokenSpread spread = spread_of(routing, 4, 2);
    std::vector<double> ranks(4, 0.0);
    double all = 0;
    for_each_set(routing, [&](const std::vector<bool>& in, double weight) {
      const bool first = in[0] || in[1] || in[2] || in[3];
      const bool second = in[4] || in[5] || in[6] || in[7];
      if (most == 1 && first && second) { return; }
      all += weight;
      for (std::uint32_t r = 0; r < 4; ++r) { ranks[r] += in[2 * r] || in[2 * r + 1] ? weight : 0; }
    });
    for (std::uint32_t r = 0; r < 4; ++r) { CHECK(spread.ranks[r] == Approx(ranks[r] / all)); }
  }
}

TEST_CASE("weights that were found from loads give these loads, which add up to the chosen") {
  const std::vector<double> loads = {5, 1, 2, 2, 1, 1, 3, 1};
  const std::vector<double> found = loads_of(weights_of(loads, 2), 2);
  CHECK(sum(found) == Approx(2));
  for (std::size_t e = 0; e < loads.size(); ++e) { CHECK(found[e] == Approx(loads[e] * 2 / sum(loads))); }
  CHECK_THROWS_AS(weights_of({9, 1, 1, 1}, 2), SimulationError);
}

TEST_CASE("Zipf's weights are dealt out to ranks in turns, and exponent 0 is even") {
  CHECK(zipf_weights(4, 2, 1) == std::vector<double>{1, 1.0 / 3, 1.0 / 2, 1.0 / 4});
  CHECK(zipf_weights(4, 2, 0) == std::vector<double>(4, 1.0));
}

TEST_CASE("the busiest experts get replicas, which go where least is to be done") {
  CHECK(place_experts({6, 3, 2, 1}, 0, 2) == std::vector<std::vector<std::uint32_t>>{{0}, {0}, {1}, {1}});
  // 6 becomes 3 + 3 and, of two threes the first, 2 + 2 + 2. Then 3 goes to rank 0, two of 2 to ranks 1 and 0, the
  // third to rank 1 (2 against 5), the other 2 there, too (4 against 5), and 1 to where there is room.
  CHECK(place_experts({6, 3, 2, 1}, 2, 2) == std::vector<std::vector<std::uint32_t>>{{1, 0, 1}, {0}, {1}, {0}});
  const auto alike = place_experts({1, 1, 1, 1}, 4, 4);
  for (const auto& at : alike) { CHECK(at.size() == 2); }
}

TEST_CASE("tokens of a replicated expert are shared out: load of a rank is that of its replicas") {
  TokenRouting routing = even_routing(4, 2, 2);
  routing.weights = {8, 1, 1, 1};
  routing.replicas = {{0, 1}, {0}, {1}, {1}};
  const std::vector<double> loads = loads_of(routing.weights, 2);
  const TokenSpread spread = spread_of(routing, 2, 1);
  CHECK(spread.choices[0] == Approx(loads[0] / 2 + loads[1]));
  CHECK(spread.choices_of_token() == Approx(2));
}

TEST_CASE("what capacity keeps is the mean of min(X, capacity), X being binomial") {
  // Two tokens, half of which choose an expert that takes one: 1/4 none, 1/2 one, 1/4 two, of which one is dropped.
  CHECK(kept_share(0.5, 2, 1) == Approx(0.75));
  CHECK(kept_share(0.5, 2, 2) == 1);
  CHECK(kept_share(1, 8, 2) == Approx(0.25));
  CHECK(expert_capacity(1.25, 4096, 8, 256) == 160);
  CHECK(expert_capacity(1, 3, 1, 2) == 2);
}

TEST_CASE("dropped choices reach nobody: with one expert on each rank a rank is reached as often as it is kept") {
  TokenRouting routing = even_routing(8, 2, 8);
  routing.kept.assign(8, 0.5);
  const TokenSpread spread = spread_of(routing, 8, 4);
  CHECK(spread.ranks_of_token() == Approx(1));
  CHECK(spread.choices_of_token() == Approx(1));
  routing.most_nodes = 1;
  CHECK(spread_of(routing, 8, 4).ranks_of_token() == Approx(1));
  CHECK(spread_of(routing, 8, 4).nodes_of_token() == Approx(0.75));
}
