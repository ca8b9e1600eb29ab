#include "models/jobs/arrivals.hpp"

#include <cmath>
#include <map>

#include <doctest/doctest.h>

#include "models/jobs/tier_speed.hpp"
#include "small_jobs.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

using Law = RandomSpan::Law;

/// Two classes, of which the second has a third of the jobs.
ArrivalRules two_classes(JobList& list, std::uint64_t jobs) {
  ArrivalRules rules{jobs, {wall_seconds(60), Law::exponential, 1}, 0, {}};
  Job small;
  small.shape = list.shape({{1, {.gpus = 1}}});
  Job large = small;
  large.shape = list.shape({{8, {.gpus = 8}}});
  rules.classes = {{small, 2, {wall_seconds(600), Law::log_normal, 1.5}, 1}, {large, 1, {wall_seconds(7'200)}, 3}};
  return rules;
}

}  // namespace

TEST_CASE("drawn jobs come as often, in such shares and run as long as is said") {
  JobList list;
  const ArrivalRules rules = two_classes(list, 100'000);
  draw_arrivals(rules, 1, list);
  REQUIRE(list.size() == 100'000);
  CHECK(seconds(list.jobs.back().submitted) == doctest::Approx(6'000'000).epsilon(0.01));
  double small = 0;
  double ran = 0;
  for (const Job& job : list.jobs) {
    if (job.shape == rules.classes[1].like.shape) {
      CHECK(job.duration == 2_wall_h);
      CHECK(job.expected == 6_wall_h);
      continue;
    }
    small += 1;
    ran += seconds(job.duration);
    CHECK(job.expected == job.duration);
  }
  CHECK(small / 100'000 == doctest::Approx(2.0 / 3).epsilon(0.01));
  // The deviation of such a time is almost three times its mean: of 67,000 the mean is known to about 1.2 %.
  CHECK(ran / small == doctest::Approx(600).epsilon(0.04));
}

TEST_CASE("the same seed draws the same jobs, another one others") {
  const auto times = [](std::uint64_t seed) {
    JobList list;
    const ArrivalRules rules = two_classes(list, 50);
    draw_arrivals(rules, seed, list);
    std::vector<WallTime> all;
    for (const Job& job : list.jobs) { all.insert(all.end(), {job.submitted, job.duration}); }
    return all;
  };
  CHECK(times(3) == times(3));
  CHECK(times(3) != times(4));
}

TEST_CASE("a daily rate has its peak after six hours and as many jobs a day as a steady one") {
  JobList list;
  ArrivalRules rules = two_classes(list, 200'000);
  rules.daily = 0.5;
  draw_arrivals(rules, 1, list);
  CHECK(seconds(list.jobs.back().submitted) == doctest::Approx(12'000'000).epsilon(0.01));
  std::map<std::int64_t, double> by_quarter;
  for (const Job& job : list.jobs) { by_quarter[job.submitted % 1_wall_d / 6_wall_h] += 1; }
  // Of a sine the mean over the half in which it is above zero is 2 / pi.
  const double day = by_quarter[0] + by_quarter[1];
  const double night = by_quarter[2] + by_quarter[3];
  const double swing = 0.5 * 2 / 3.14159265;
  CHECK(day / night == doctest::Approx((1 + swing) / (1 - swing)).epsilon(0.02));
}

TEST_CASE("a job is the slower the farther apart its nodes are") {
  NodeList nodes = equal_nodes(8, 1);
  nodes.tiers = {{"leaf", {}, 4}, {"spine", {}, 2}};
  for (std::uint32_t node = 0; node < 8; ++node) {
    nodes.tiers[0].domains.push_back(node / 2);
    nodes.tiers[1].domains.push_back(node / 4);
  }
  const auto ends = [&](std::uint32_t gpus) {
    const JobList jobs = list_of({{0, 100, gpus}});
    const auto placement = placement_of("first_fit", jobs, nodes);
    const auto scheduler = scheduler_of("fifo", jobs, nodes);
    TierSpeed speeds({1, 0.8, 0.5});
    return simulate_jobs(jobs, nodes, *placement, *scheduler, speeds, {}).outcomes[JobId{0}].ended;
  };
  CHECK(ends(1) == wall_seconds(100));
  CHECK(seconds(ends(2)) == doctest::Approx(125));
  CHECK(seconds(ends(4)) == doctest::Approx(200));
  CHECK(seconds(ends(8)) == doctest::Approx(200));
}
