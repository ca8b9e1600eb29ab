#include "models/layouts/choice_problem.hpp"

#include <algorithm>
#include <random>

#include <doctest/doctest.h>

using namespace athanor;

namespace {

struct Drawn {
  std::uint32_t variables = 5;
  std::uint32_t choices = 3;
  std::uint32_t pairs = 7;
};

ChoiceProblem random_problem(std::mt19937& random, const Drawn& drawn) {
  ChoiceProblem problem;
  const auto numbers = [&](std::size_t count, std::int64_t most) {
    std::vector<std::int64_t> result(count);
    for (std::int64_t& each : result) { each = random() % 8 == 0 ? most * 10 : random() % most; }
    return result;
  };
  for (std::uint32_t v = 0; v < drawn.variables; ++v) {
    const std::size_t count = 1 + random() % drawn.choices;
    problem.costs.push_back(numbers(count, 50));
    problem.memory.push_back(numbers(count, 20));
  }
  for (std::uint32_t p = 0; p < drawn.pairs; ++p) {
    const auto first = static_cast<std::uint32_t>(random() % drawn.variables);
    const auto second = static_cast<std::uint32_t>(random() % drawn.variables);
    const std::size_t count = problem.costs[first].size() * problem.costs[second].size();
    problem.pairs.push_back({first, second, numbers(count, 50), numbers(count, 5)});
  }
  return problem;
}

struct Account {
  std::int64_t cost = 0;
  std::int64_t memory = 0;
};

Account account_of(const ChoiceProblem& problem, const std::vector<std::uint32_t>& chosen) {
  Account sum;
  for (std::size_t v = 0; v < chosen.size(); ++v) {
    sum.cost += problem.costs[v][chosen[v]];
    sum.memory += problem.memory[v][chosen[v]];
  }
  for (const ChoiceProblem::Pair& pair : problem.pairs) {
    const std::size_t place = chosen[pair.first] * problem.costs[pair.second].size() + chosen[pair.second];
    sum.cost += pair.costs[place];
    if (!pair.memory.empty()) { sum.memory += pair.memory[place]; }
  }
  return sum;
}

/// The least cost of all choices within the limit; INT64_MAX: there is none.
std::int64_t brute_force(const ChoiceProblem& problem, std::int64_t limit) {
  std::vector<std::uint32_t> chosen(problem.costs.size());
  std::int64_t best = INT64_MAX;
  while (true) {
    const Account sum = account_of(problem, chosen);
    if (sum.memory <= limit) { best = std::min(best, sum.cost); }
    std::size_t v = 0;
    while (v < chosen.size() && ++chosen[v] == problem.costs[v].size()) { chosen[v++] = 0; }
    if (v == chosen.size()) { return best; }
  }
}

}  // namespace

TEST_CASE("without a limit the choice is the cheapest of all, and the bound is its cost") {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const ChoiceProblem problem = random_problem(random, {1 + static_cast<std::uint32_t>(random() % 7), 4, 9});
    const ChoiceSolution found = solve(problem);
    const std::int64_t best = brute_force(problem, INT64_MAX);
    CHECK(found.cost == best);
    CHECK(found.bound == best);
    CHECK(account_of(problem, found.chosen).cost == best);
    CHECK(account_of(problem, found.chosen).memory == found.memory);
  }
}

TEST_CASE("under a limit of memory what is chosen fits, and the best choice is between it and the bound") {
  std::mt19937 random(2);
  int exact = 0;
  int solved = 0;
  for (int round = 0; round < 200; ++round) {
    const ChoiceProblem problem = random_problem(random, {});
    const std::int64_t limit = 40 + static_cast<std::int64_t>(random() % 60);
    const std::int64_t best = brute_force(problem, limit);
    const ChoiceSolution found = solve(problem, {.memory = limit});
    if (found.cost >= ChoiceProblem::kImpossible) { continue; }
    ++solved;
    CHECK(found.memory <= limit);
    CHECK(found.cost >= best);
    CHECK(found.bound <= best);
    exact += found.cost == best ? 1 : 0;
  }
  CHECK(solved > 50);
  CHECK(exact * 10 > solved * 7);
}

TEST_CASE("where tables would be too large the choice is no better than the best, and the bound no worse") {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    const ChoiceProblem problem = random_problem(random, {6, 4, 14});
    const ChoiceSolution found = solve(problem, {.table = 16});
    const std::int64_t best = brute_force(problem, INT64_MAX);
    CHECK(found.bound <= best);
    CHECK(found.cost >= best);
  }
}

TEST_CASE("what cannot go together is impossible") {
  ChoiceProblem problem{{{0}, {0}}, {{0}, {0}}, {{0, 1, {ChoiceProblem::kImpossible}}}};
  CHECK(solve(problem).cost >= ChoiceProblem::kImpossible);
}
