#include "models/workload/time_shifts.hpp"

#include <doctest/doctest.h>

#include "sim/random.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

/// A job that takes all of link 0, or this share, at the end of each of its steps.
JobCircle circle(Time compute, Time sends, double share = 1, std::uint32_t link = 0) {
  const Time period = compute + sends;
  return {period, {{link, {{{compute, period}, share}}}}};
}

/// The best score of two jobs on link 0 by trying every shift in picoseconds that are a multiple of `grid`, from the
/// definition: the mean of what both want beyond the link.
double best_by_hand(const JobCircle& a, const JobCircle& b, Time grid, Time circle) {
  const auto wants = [](const JobCircle& job, Time when) {
    const Time in_step = when % job.period;
    double sum = 0;
    for (const LinkArc& arc : job.links.at(0)) {
      if (in_step >= arc.when.begin && in_step < arc.when.end) { sum += arc.share; }
    }
    return sum;
  };
  double best = -1;
  for (Time shift; shift < b.period; shift += grid) {
    double excess = 0;
    int parts = 0;
    for (Time when; when < circle; when += grid, ++parts) {
      excess += std::max(0.0, wants(a, when) + wants(b, when + b.period - shift) - 1);
    }
    best = std::max(best, 1 - excess / parts);
  }
  return best;
}

}  // namespace

TEST_CASE("two jobs that compute at least as long as they send fit beside each other, and the score is 1") {
  const std::vector<JobCircle> jobs{circle(6_ms, 3_ms), circle(6_ms, 3_ms)};
  const TimeShifts found = compatible_shifts(jobs);
  CHECK(found.score == 1);
  CHECK(found.exact);
  CHECK(found.rounding == 0);
  CHECK(found.shifts[0] == Time::zero());
  CHECK(found.shifts[1] == 3_ms);  // the least that works
}

TEST_CASE("jobs that send for more than half of their steps overlap for what they send too long") {
  // c = 2, m = 4 of 6: whatever the shift, both send for 2 m - (c + m) = 2 of 6 at least.
  const std::vector<JobCircle> jobs{circle(2_ms, 4_ms), circle(2_ms, 4_ms)};
  CHECK(compatible_shifts(jobs).score == doctest::Approx(1 - 2.0 / 6));
  // Of the parts of a link that there are, 0.75 + 0.75 - 1 is wanted too much.
  const std::vector<JobCircle> slow{circle(2_ms, 4_ms, 0.75), circle(2_ms, 4_ms, 0.75)};
  CHECK(compatible_shifts(slow).score == doctest::Approx(1 - 2.0 / 6 / 2));
}

TEST_CASE("periods of 40 and 60 ms meet on a circle of 120 ms") {
  // CASSINI's example of section 3. Who sends for 10 of 40 and 10 of 60 can be kept apart: remainders modulo 20 decide.
  const std::vector<JobCircle> apart{circle(30_ms, 10_ms), circle(50_ms, 10_ms)};
  CHECK(compatible_shifts(apart).score == 1);
  // 15 and 10 cannot: modulo 20, all of which the first fills but 5, and each meeting is of 5 ms at least: of 120 ms
  // one.
  const std::vector<JobCircle> close{circle(25_ms, 15_ms), circle(50_ms, 10_ms)};
  const double by_hand = best_by_hand(close[0], close[1], 1_ms, 120_ms);
  CHECK(compatible_shifts(close).score == doctest::Approx(by_hand));
  CHECK(by_hand == doctest::Approx(1 - 5.0 / 120));
}

TEST_CASE("what is found for two jobs is the best that there is on the grid") {
  RandomStream random(7, "jobs on a circle");
  for (int round = 0; round < 20; ++round) {
    const auto draw = [&](std::uint64_t most) { return 1_ms * static_cast<std::int64_t>(1 + random.below(most)); };
    const Time first = draw(5);
    const std::vector<JobCircle> jobs{circle(12_ms - first, first, 0.5 + 0.125 * static_cast<double>(random.below(5))),
                                      circle(12_ms, draw(12))};
    Time whole = jobs[0].period;
    while (whole % jobs[1].period != Time::zero()) { whole += jobs[0].period; }
    const TimeShifts found = compatible_shifts(jobs, 12);
    CHECK(found.score == doctest::Approx(best_by_hand(jobs[0], jobs[1], 1_ms, whole)));
  }
}

TEST_CASE("a chain of links over which jobs meet is shifted as a whole") {
  // 0 meets 1 on link 0, 1 meets 2 on link 1, and 3 nobody (CASSINI's affinity graph, section 4): each pair fits.
  std::vector<JobCircle> jobs{circle(6_ms, 6_ms), circle(6_ms, 6_ms), circle(6_ms, 6_ms, 1, 1),
                              circle(6_ms, 6_ms, 1, 5)};
  jobs[1].links[1] = jobs[1].links[0];
  const TimeShifts found = compatible_shifts(jobs);
  CHECK(found.score == 1);
  CHECK(found.scores.size() == 2);
  CHECK(found.shifts == std::vector<Time>{0_ms, 6_ms, 0_ms, 0_ms});
}

TEST_CASE("three jobs that send for a third of their steps take turns, and a fourth is too many") {
  const std::vector<JobCircle> three(3, circle(8_ms, 4_ms));
  CHECK(compatible_shifts(three).score == 1);
  const std::vector<JobCircle> four(4, circle(8_ms, 4_ms));
  const TimeShifts found = compatible_shifts(four, 12);
  CHECK(found.score == doctest::Approx(1 - 4.0 / 12));
}

TEST_CASE("where there are too many combinations one job after the other is moved, and it is said") {
  const std::vector<JobCircle> eight(8, circle(14_ms, 2_ms));
  const TimeShifts found = compatible_shifts(eight);
  CHECK_FALSE(found.exact);
  CHECK(found.score == doctest::Approx(1).epsilon(0.02));
}

TEST_CASE("periods that have no short common multiple are rounded, and it is said by how much") {
  const std::vector<JobCircle> jobs{circle(5_ms, 5_ms), circle(7_ms, 4123_us)};
  const TimeShifts found = compatible_shifts(jobs);
  CHECK(found.rounding > 0);
  CHECK(found.rounding < 0.01);
}
