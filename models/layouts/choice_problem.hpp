#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

namespace athanor {

/// Variables with a choice each, costs of choices, and costs of pairs of choices: the problem that Alpa solves for the
/// strategies of operators (OSDI 2022, section 4.2), and register allocators as PBQP.
struct ChoiceProblem {
  static constexpr std::int64_t kImpossible = INT64_MAX / 4;

  /// Of two variables: costs and memory by choice of the first, then of the second.
  struct Pair {
    std::uint32_t first = 0;
    std::uint32_t second = 0;
    std::vector<std::int64_t> costs;
    std::vector<std::int64_t> memory{};  ///< empty: none
  };
  std::vector<std::vector<std::int64_t>> costs;   ///< by variable and choice; at least one choice each
  std::vector<std::vector<std::int64_t>> memory;  ///< likewise; what is held to a limit
  std::vector<Pair> pairs;
};

/// What was chosen.
struct ChoiceSolution {
  std::vector<std::uint32_t> chosen;  ///< by variable
  std::int64_t cost = 0;              ///< kImpossible: nothing is possible, as far as was found
  std::int64_t bound = 0;             ///< no choice costs less
  std::int64_t memory = 0;
};

/// How large tables may become.
struct ChoiceLimits {
  std::int64_t memory = INT64_MAX;             ///< all memory together
  std::int64_t table = std::int64_t{1} << 26;  ///< choices that are looked at together
};

/// The cheapest choice, by eliminating one variable after the other (Dechter, "Bucket elimination", 1999): exact where
/// tables stay within the limit, as on chains, trees and graphs that are nearly so. Where one would not, it is cut in
/// parts that are minimised by themselves (mini-buckets), which gives the bound, and the choice is improved variable by
/// variable. Where the cheapest choice needs too much memory, memory costs something (Lagrange's relaxation; the price
/// is searched by bisection), which gives the cheapest choice of those that no price makes worse than another, and the
/// bound. Equal choices: the first. Throws Interrupted.
ChoiceSolution solve(const ChoiceProblem& problem, const ChoiceLimits& limits = {}, const std::stop_token& stop = {});

}  // namespace athanor
