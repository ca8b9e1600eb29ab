#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>
#include <string>

#include <doctest/doctest.h>

#include "algorithms/catalog.hpp"
#include "tests/models/law_conditions.hpp"
#include "tests/models/small_clusters.hpp"

using namespace athanor;
using namespace athanor::testing;

namespace {

using enum CollectiveKind;

std::uint32_t log2_up(std::uint32_t ranks) { return static_cast<std::uint32_t>(std::bit_width(ranks - 1)); }
/// A step reaches at most the power of two from half of the ranks on.
std::uint32_t pat_steps(std::uint32_t ranks) {
  const std::uint32_t most = std::bit_ceil(std::max(1U, ranks / 2));
  return log2_up(most) + std::min(std::bit_ceil(ranks) / most, ranks) - 1;
}
std::uint32_t log2_down(std::uint32_t ranks) { return static_cast<std::uint32_t>(std::bit_width(ranks)) - 1; }
std::uint32_t folds(std::uint32_t ranks) { return std::has_single_bit(ranks) ? 0 : 1; }

bool any(std::uint32_t) { return true; }
bool power_of_two(std::uint32_t ranks) { return std::has_single_bit(ranks); }
bool power_of_two_and_one(std::uint32_t ranks) { return ranks > 2 && std::has_single_bit(ranks - 1); }
bool power_of_four(std::uint32_t ranks) { return power_of_two(ranks) && std::countr_zero(ranks) % 2 == 0; }
bool above_two(std::uint32_t ranks) { return ranks > 2; }

/// For P ranks and n elements, which P and its greatest power of two divide: messages one after the other, elements
/// sent one after the other, and elements added one after the other.
struct Law {
  CollectiveKind kind;
  std::string_view name;
  bool (*holds)(std::uint32_t ranks);
  Cost (*terms)(std::uint32_t ranks, std::int64_t n);
  /// Several messages share a port at a time. Where their number does not divide its rate, each step may end one
  /// picosecond late; every other time is exact.
  bool shares = false;
};

Cost terms(std::uint32_t steps, std::int64_t sent, std::int64_t added) {
  return {steps, Elements{sent}, Elements{added}};
}

// The same traffic in other steps.
Cost ring_form(std::uint32_t p, std::int64_t n) { return terms(2 * (p - 1), 2 * (p - 1) * n / p, (p - 1) * n / p); }
Cost halving_form(std::uint32_t p, std::int64_t n) {
  return terms(2 * log2_up(p), ring_form(p, n).sent.count(), n - n / p);
}
Cost doubling_form(std::uint32_t p, std::int64_t n) { return terms(log2_up(p), log2_up(p) * n, log2_up(p) * n); }
Cost chain_form(std::uint32_t p, std::int64_t n) { return terms(p - 1, (p - 1) * n, (p - 1) * n); }
/// Everyone's blocks to everyone, or from or to the root; each sends or receives one after the other at one port.
Cost blocks_in(std::uint32_t steps, std::uint32_t p, std::int64_t n) { return terms(steps, n - n / p, 0); }
Cost sums_in(std::uint32_t steps, std::uint32_t p, std::int64_t n) { return terms(steps, n - n / p, n - n / p); }
/// Lanes of one rank that add side by side.
Cost adding_at_once(Cost cost, std::int64_t lanes) { return {cost.steps, cost.sent, cost.reduced / lanes}; }

std::int64_t coprime_strides(std::uint32_t p) {
  std::int64_t count = 0;
  for (std::uint32_t stride = 1; stride < p; ++stride) { count += std::gcd(stride, p) == 1 ? 1 : 0; }
  return std::min<std::int64_t>(count, 8);
}

/// Blocks that Bruck's all-to-all sends: the numbers below P with bit k set, for each k.
std::int64_t bits_below(std::uint32_t p) {
  std::int64_t bits = 0;
  for (std::uint32_t number = 0; number < p; ++number) { bits += std::popcount(number); }
  return bits;
}

// On a switch, where every rank has one port: every message in, and every one out, shares it with the others.
constexpr Law kOnOnePort[] = {
    {all_reduce, "ring", any, ring_form},
    // The root sends to one child and gets from it; on the way each port serves two children, and both trees.
    {all_reduce, "double_binary_tree", power_of_two,
     [](std::uint32_t p, std::int64_t n) {
       const std::int64_t h = log2_up(p);
       return terms(2 * log2_up(p), (2 * h - 1) * n, (2 * h - 1) * n / 2);
     }},
    // Without groups it is one chain.
    {all_reduce, "node_chain_tree", any,
     [](std::uint32_t p, std::int64_t n) { return terms(2 * (p - 1), 2 * (p - 1) * n, (p - 1) * n); }},
    {all_reduce, "recursive_doubling", power_of_two, doubling_form},
    {all_reduce, "halving_doubling", power_of_two, halving_form},
    // Incast: P-1 pushes share the server's port, and so do its P-1 answers.
    {all_reduce, "parameter_server", any,
     [](std::uint32_t p, std::int64_t n) { return terms(2, 2 * (p - 1) * n, (p - 1) * n); }, true},
    // The server has no input of its own.
    {all_reduce, "parameter_server_dedicated", any,
     [](std::uint32_t p, std::int64_t n) { return terms(2, 2 * p * n, (p - 1) * n); }, true},
    {all_reduce, "bidirectional_ring", any,
     [](std::uint32_t p, std::int64_t n) { return adding_at_once(ring_form(p, n), 2); }},
    {all_reduce, "multi_ring", any,
     [](std::uint32_t p, std::int64_t n) { return adding_at_once(ring_form(p, n), coprime_strides(p)); }, true},
    {all_reduce, "hierarchical", any, ring_form},
    {all_reduce, "rabenseifner", power_of_two, halving_form},
    {all_reduce, "swing", power_of_two,
     [](std::uint32_t p, std::int64_t n) { return adding_at_once(halving_form(p, n), 2); }},
    {all_reduce, "swing_latency", power_of_two,
     [](std::uint32_t p, std::int64_t n) { return adding_at_once(doubling_form(p, n), 2); }},
    {all_reduce, "binomial_tree", power_of_two,
     [](std::uint32_t p, std::int64_t n) { return terms(2 * log2_up(p), 2 * log2_up(p) * n, log2_up(p) * n); }},
    // Three sends of one rank follow each other in each level of the tree of radix 4.
    {all_reduce, "binomial_knomial_tree", power_of_four,
     [](std::uint32_t p, std::int64_t n) {
       const std::uint32_t rounds = log2_up(p) + 3 * log2_up(p) / 2;
       return terms(rounds, rounds * n, log2_up(p) * n);
     }},
    {all_reduce, "butterfly", power_of_two, doubling_form},
    // A server adds while the next worker's message is on its way; only the last addition is not hidden.
    {all_reduce, "parameter_server_sharded", any,
     [](std::uint32_t p, std::int64_t n) { return terms(2 * (p - 1), 2 * (p - 1) * n / p, n / p); }},
    {all_reduce, "direct_one_shot", any,
     [](std::uint32_t p, std::int64_t n) { return terms(1, (p - 1) * n, (p - 1) * n); }, true},
    {all_reduce, "direct_two_shot", any,
     [](std::uint32_t p, std::int64_t n) { return terms(2, 2 * (n - n / p), n - n / p); }, true},
    {reduce_scatter, "ring", any, [](std::uint32_t p, std::int64_t n) { return sums_in(p - 1, p, n); }},
    {reduce_scatter, "recursive_halving", power_of_two,
     [](std::uint32_t p, std::int64_t n) { return sums_in(log2_up(p), p, n); }},
    {reduce_scatter, "bruck", any, [](std::uint32_t p, std::int64_t n) { return sums_in(log2_up(p), p, n); }},
    {reduce_scatter, "direct", any, [](std::uint32_t p, std::int64_t n) { return sums_in(1, p, n); }, true},
    {reduce_scatter, "pat", any, [](std::uint32_t p, std::int64_t n) { return sums_in(pat_steps(p), p, n); }},
    {all_gather, "ring", any, [](std::uint32_t p, std::int64_t n) { return blocks_in(p - 1, p, n); }},
    {all_gather, "recursive_doubling", power_of_two,
     [](std::uint32_t p, std::int64_t n) { return blocks_in(log2_up(p), p, n); }},
    {all_gather, "bruck", any, [](std::uint32_t p, std::int64_t n) { return blocks_in(log2_up(p), p, n); }},
    {all_gather, "direct", any, [](std::uint32_t p, std::int64_t n) { return blocks_in(1, p, n); }, true},
    {all_gather, "pat", any, [](std::uint32_t p, std::int64_t n) { return blocks_in(pat_steps(p), p, n); }},
    {broadcast, "ring", any, [](std::uint32_t p, std::int64_t n) { return terms(p - 1, (p - 1) * n, 0); }},
    {broadcast, "binomial_tree", any,
     [](std::uint32_t p, std::int64_t n) { return terms(log2_up(p), log2_up(p) * n, 0); }},
    {broadcast, "knomial_tree", power_of_four,
     [](std::uint32_t p, std::int64_t n) { return terms(3 * log2_up(p) / 2, 3 * log2_up(p) / 2 * n, 0); }},
    {broadcast, "scatter_all_gather", any,
     [](std::uint32_t p, std::int64_t n) { return terms(log2_up(p) + p - 1, 2 * (n - n / p), 0); }},
    {broadcast, "double_binary_tree", power_of_two_and_one,
     [](std::uint32_t p, std::int64_t n) { return terms(log2_up(p - 1) + 1, (2 * log2_up(p - 1) + 1) * n / 2, 0); }},
    {reduce, "ring", any, chain_form},
    {reduce, "binomial_tree", power_of_two, doubling_form},
    {reduce, "reduce_scatter_gather", power_of_two, halving_form},
    {all_to_all, "pairwise", any, [](std::uint32_t p, std::int64_t n) { return blocks_in(p - 1, p, n); }},
    {all_to_all, "direct", any, [](std::uint32_t p, std::int64_t n) { return blocks_in(1, p, n); }, true},
    {all_to_all, "bruck", any,
     [](std::uint32_t p, std::int64_t n) { return terms(log2_up(p), bits_below(p) * (n / p), 0); }},
    {all_to_all, "hierarchical", any, [](std::uint32_t p, std::int64_t n) { return blocks_in(p - 1, p, n); }},
    {all_to_all_v, "pairwise", any, [](std::uint32_t p, std::int64_t n) { return blocks_in(p - 1, p, n); }},
    {all_to_all_v, "direct", any, [](std::uint32_t p, std::int64_t n) { return blocks_in(1, p, n); }, true},
    // Eight blocks at once share a port, the next come after them; without groups there are no rails.
    {all_to_all, "rounds", any, [](std::uint32_t p, std::int64_t n) { return blocks_in((p + 7) / 8, p, n); }, true},
    {all_to_all, "rounds_by_rail", any, [](std::uint32_t p, std::int64_t n) { return blocks_in((p + 7) / 8, p, n); },
     true},
    {all_to_all_v, "rounds", any, [](std::uint32_t p, std::int64_t n) { return blocks_in((p + 7) / 8, p, n); }, true},
    {all_to_all_v, "rounds_by_rail", any, [](std::uint32_t p, std::int64_t n) { return blocks_in((p + 7) / 8, p, n); },
     true},
    {gather, "rounds", any, [](std::uint32_t p, std::int64_t n) { return blocks_in(1, p, n); }, true},
    {scatter, "rounds", any, [](std::uint32_t p, std::int64_t n) { return blocks_in((p + 7) / 8, p, n); }, true},
    {send_receive, "rounds", any, [](std::uint32_t, std::int64_t n) { return terms(1, n, 0); }},
    // Incast: all blocks share the root's port.
    {gather, "linear", any, [](std::uint32_t p, std::int64_t n) { return blocks_in(1, p, n); }, true},
    {gather, "binomial_tree", power_of_two,
     [](std::uint32_t p, std::int64_t n) { return blocks_in(log2_up(p), p, n); }},
    {scatter, "linear", any, [](std::uint32_t p, std::int64_t n) { return blocks_in(1, p, n); }, true},
    {scatter, "binomial_tree", any, [](std::uint32_t p, std::int64_t n) { return blocks_in(log2_up(p), p, n); }},
    {barrier, "dissemination", any, [](std::uint32_t p, std::int64_t) { return terms(log2_up(p), 0, 0); }},
    {barrier, "tree", any, [](std::uint32_t p, std::int64_t) { return terms(2 * log2_down(p), 0, 0); }},
    {send_receive, "direct", any, [](std::uint32_t, std::int64_t n) { return terms(1, n, 0); }},
};

/// Whole sums are swapped between the corners; a rank beyond gives its input before and gets the result after.
Cost folded_doubling(std::uint32_t p, std::int64_t n) {
  const std::uint32_t k = log2_down(p);
  const std::uint32_t f = folds(p);
  return terms(k + 2 * f, (k + 2 * f) * n, (k + f) * n);
}

Cost folded_halving(std::uint32_t p, std::int64_t n) {
  const std::int64_t corners = std::bit_floor(p);
  const std::uint32_t f = folds(p);
  return terms(2 * log2_down(p) + 2 * f, 2 * (n - n / corners) + 2 * f * n, n - n / corners + f * n);
}

/// Two channels with half of the payload each, side by side.
Cost halved(Cost cost) { return {cost.steps, cost.sent / 2, cost.reduced / 2}; }

// Where every connection has a link of its own: what the algorithm itself takes, for ranks that are no power of two.
constexpr Law kOnOwnLinks[] = {
    {all_reduce, "recursive_doubling", any, folded_doubling},
    {all_reduce, "butterfly", any, folded_doubling},
    {all_reduce, "halving_doubling", any, folded_halving},
    {all_reduce, "rabenseifner", any, folded_halving},
    {all_reduce, "swing", any, [](std::uint32_t p, std::int64_t n) { return halved(folded_halving(p, n)); }},
    {all_reduce, "swing_latency", any, [](std::uint32_t p, std::int64_t n) { return halved(folded_doubling(p, n)); }},
    {all_reduce, "binomial_tree", any,
     [](std::uint32_t p, std::int64_t n) {
       return terms(log2_up(p) + log2_down(p), (log2_up(p) + log2_down(p)) * n, log2_up(p) * n);
     }},
    {reduce, "binomial_tree", any,
     [](std::uint32_t p, std::int64_t n) { return terms(log2_down(p), log2_down(p) * n, log2_up(p) * n); }},
    {reduce, "reduce_scatter_gather", any,
     [](std::uint32_t p, std::int64_t n) {
       const Cost all = folded_halving(p, n);
       return terms(2 * log2_down(p) + folds(p), all.sent.count() - folds(p) * n, all.reduced.count());
     }},
    {all_gather, "recursive_doubling", any,
     [](std::uint32_t p, std::int64_t n) {
       if (folds(p) == 0) { return blocks_in(log2_up(p), p, n); }
       const std::uint32_t pairs = p - std::bit_floor(p);
       std::int64_t blocks = 1 + p;
       for (std::uint32_t side = 1; side < std::bit_floor(p); side *= 2) { blocks += side + std::min(side, pairs); }
       return terms(log2_down(p) + 2, blocks * (n / p), 0);
     }},
    {broadcast, "double_binary_tree", above_two,
     [](std::uint32_t p, std::int64_t n) { return terms(log2_up(p - 1) + 1, (log2_up(p - 1) + 1) * n / 2, 0); }},
};

void check(const Law& law, NetworkLevel level) {
  const Algorithm& algorithm = find(law.kind, law.name);
  for (std::uint32_t ranks = 2; ranks <= 33; ++ranks) {
    if (!law.holds(ranks)) { continue; }
    const Cluster cluster = star(ranks + 1, kRate, kAlpha / 2);  // one for a server
    for (const std::int64_t each : {0, 1, 600}) {
      // A multiple of all that pieces are cut into: two trees, eight rings, the corners of a cube.
      const std::int64_t n = each * ranks * std::bit_ceil(ranks) * std::lcm(8, coprime_strides(ranks));
      CAPTURE(std::string(name(law.kind)));
      CAPTURE(std::string(law.name));
      CAPTURE(ranks);
      CAPTURE(n);
      const Time time = simulated(algorithm, even_collective(law.kind, ranks, n), {}, cluster, level);
      const Time expected = closed_form(law.terms(ranks, n));
      CHECK(time >= expected);
      CHECK(time <= expected + (law.shares ? Time{law.terms(ranks, n).steps} : Time::zero()));
    }
  }
}

}  // namespace

TEST_CASE("on one port per rank each algorithm takes what its closed form says") {
  for (const Law& law : kOnOnePort) { check(law, NetworkLevel::flow); }
}

TEST_CASE("with a link for every connection the closed forms hold for ranks that are no power of two") {
  for (const Law& law : kOnOwnLinks) { check(law, NetworkLevel::ideal); }
}

TEST_CASE("no algorithm is without a law") {
  for (const Algorithm& algorithm : catalog()) {
    CAPTURE(algorithm.name);
    const bool on_one_port = std::any_of(std::begin(kOnOnePort), std::end(kOnOnePort), [&](const Law& law) {
      return law.kind == algorithm.kind && law.name == algorithm.name;
    });
    // In closed_form_fabrics_test.cpp, aggregation_test.cpp and in_network_nodes_test.cpp.
    const auto elsewhere = {"nvls",      "mesh_2d",    "torus",         "torus_2d",       "torus_3d",
                            "nvls_tree", "nvls_sharp", "collnet_chain", "collnet_direct", "aggregation_tree"};
    const bool on_its_fabric = std::find(elsewhere.begin(), elsewhere.end(), algorithm.name) != elsewhere.end();
    CHECK((on_one_port || on_its_fabric));
  }
}
