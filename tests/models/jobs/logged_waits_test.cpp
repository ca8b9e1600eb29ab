#include "models/jobs/logged_waits.hpp"

#include <doctest/doctest.h>

#include "small_jobs.hpp"

using namespace athanor;

TEST_CASE("waits of a log stand beside those simulated, of jobs that have both") {
  // On one GPU, first come: they wait 0, 100 - 10, 200 - 20 and 300 - 30 s; nobody knows when the third one started.
  JobList jobs = list_of({{0, 100, 1}, {10, 100, 1}, {20, 100, 1}, {30, 100, 1}});
  jobs.jobs[JobId{3}].queue = jobs.name("late");
  const JobsRun run = run_of(jobs, equal_nodes(1, 1), "fifo");
  const auto waits = logged_waits({wall_seconds(0), wall_seconds(60), {}, wall_seconds(370)}, run, jobs);
  REQUIRE(waits.has_value());
  CHECK(waits->jobs == 3);
  CHECK(waits->simulated.mean == doctest::Approx((0 + 90 + 270) / 3.0));
  CHECK(waits->logged.mean == doctest::Approx((0 + 60 + 370) / 3.0));
  CHECK(waits->simulated.most == 270);
  CHECK(waits->median_difference == 30);  // 0, 30, 100
  CHECK(waits->within_a_minute == doctest::Approx(2.0 / 3));
  CHECK(waits->correlation == doctest::Approx(1));
  REQUIRE(waits->queues.size() == 2);
  CHECK(waits->queues.at("late").jobs == 1);
  CHECK(waits->queues.at("late").logged == 370);
  CHECK(waits->queues.at("").simulated == 45);
}

TEST_CASE("without a job whose log says when it started there is nothing to hold waits against") {
  const JobList jobs = list_of({{0, 100, 1}});
  const JobsRun run = run_of(jobs, equal_nodes(1, 1), "fifo");
  CHECK_FALSE(logged_waits({}, run, jobs).has_value());
  CHECK_FALSE(logged_waits({std::nullopt}, run, jobs).has_value());
}
