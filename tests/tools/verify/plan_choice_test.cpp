#include "tools/verify/plan_choice.hpp"

#include <cmath>

#include <doctest/doctest.h>

using namespace athanor;

namespace {

/// Plans of one training that differ in micro-batches.
std::vector<TrainingSetup> plans(std::size_t count) {
  std::vector<TrainingSetup> setups(count);
  for (std::size_t i = 0; i < count; ++i) { setups[i].plan.micro_batch = static_cast<std::uint32_t>(i + 1); }
  return setups;
}

/// Of plans that were measured and simulated to take so long, named "0", "1", ...
std::vector<PlanChoice> choices_of(const std::vector<double>& measured, const std::vector<double>& simulated) {
  const std::vector<TrainingSetup> setups = plans(measured.size());
  std::vector<PlanTrial> trials;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    trials.push_back({std::to_string(i), "", &setups[i], measured[i], simulated[i]});
  }
  return plan_choices(trials);
}

}  // namespace

TEST_CASE("Kendall's tau is 1 in the same order, -1 in the other, and counts pairs between") {
  CHECK(choices_of({1, 2, 3}, {10, 20, 30})[0].tau == doctest::Approx(1));
  CHECK(choices_of({1, 2, 3}, {30, 20, 10})[0].tau == doctest::Approx(-1));
  CHECK(choices_of({1, 2, 3}, {10, 30, 20})[0].tau == doctest::Approx(1.0 / 3));
  // Of six pairs five are told apart by measuring, all by simulating; one is in the other order.
  CHECK(choices_of({1, 2, 2, 3}, {1, 2, 4, 3})[0].tau == doctest::Approx(3 / std::sqrt(6.0 * 5)));
  CHECK(choices_of({1, 2}, {5, 5})[0].tau == 0);
}

TEST_CASE("regret is what the plan that was predicted to be the fastest takes longer than the fastest") {
  const PlanChoice choice = choices_of({1.1, 1, 3}, {10, 20, 30})[0];
  CHECK(choice.predicted == "0");
  CHECK(choice.measured == "1");
  CHECK(choice.regret == doctest::Approx(0.1));
  CHECK(plan_choice_lines({choice}).find("choosing the former costs 10.0 %") != std::string::npos);
}

TEST_CASE("a choice is among plans for one training of which two were measured to differ") {
  CHECK(choices_of({1}, {1}).empty());
  CHECK(choices_of({2, 2}, {1, 3}).empty());
  CHECK(plan_choice_summary({}).empty());
  std::vector<TrainingSetup> other = plans(3);
  other[1].plan.global_batch = 2;
  const std::vector<PlanTrial> trials{
      {"a", "", &other[0], 1, 1}, {"b", "", &other[1], 2, 2}, {"c", "1", &other[2], 3, 3}};
  CHECK(plan_choices(trials).empty());
}

TEST_CASE("a plan that was measured several times counts once, with the mean") {
  const std::vector<TrainingSetup> setups = plans(2);
  CHECK(plan_choices({{"a", "", &setups[0], 1, 5}, {"again", "", &setups[0], 2, 5}}).empty());
  const std::vector<PlanTrial> trials{
      {"a", "", &setups[0], 1, 5}, {"b", "", &setups[1], 2, 6}, {"again", "", &setups[0], 4, 5}};
  const std::vector<PlanChoice> choices = plan_choices(trials);
  REQUIRE(choices.size() == 1);
  CHECK(choices[0].plans == 2);
  CHECK(choices[0].tau == -1);
  CHECK(choices[0].regret == doctest::Approx(0.25));
}
