#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "small_jobs.hpp"

using namespace athanor;

TEST_CASE(
    "two gangs of 100 tasks that come at once hold half of 100 GPUs each for ever, and each is told of the other") {
  JobList list = list_of({{0, 60, 100}, {0, 60, 100}});
  list.jobs[JobId{0}].name = list.name("left");
  list.jobs[JobId{1}].name = list.name("right");
  const NodeList nodes = equal_nodes(25, 4);
  const JobsRun run = run_of(list, nodes, "kubernetes");
  REQUIRE(run.stuck.size() == 2);
  CHECK(run.stuck[0].reason ==
        "has 50 of 100 tasks on nodes, with 50 GPUs, while right holds 50 of 100 tasks on nodes, with 50 GPUs");
  CHECK(run.stuck[1].reason ==
        "has 50 of 100 tasks on nodes, with 50 GPUs, while left holds 50 of 100 tasks on nodes, with 50 GPUs");
  // A scheduler that knows gangs runs one after the other, and so does this one with a timeout.
  CHECK(run_of(list, nodes, "fifo").ended == wall_seconds(120));
  const JobsRun timed = run_of(list, nodes, "kubernetes", R"({"gang_timeout": "30 s"})");
  CHECK(timed.stuck.empty());
  CHECK(timed.outcomes[JobId{0}].started == wall_seconds(30));
  CHECK(timed.outcomes[JobId{1}].started == wall_seconds(90));
}

TEST_CASE("gangs that come one after the other do not lock each other") {
  const JobsRun run = run_of(list_of({{0, 60, 100}, {1, 60, 100}}), equal_nodes(25, 4), "kubernetes");
  CHECK(run.outcomes[JobId{1}].started == wall_seconds(60));
}

TEST_CASE("a gang that is larger than the cluster is stuck, with a timeout as without, and the simulation ends") {
  for (const char* keys : {"{}", R"({"gang_timeout": "10 s"})"}) {
    const JobsRun run = run_of(list_of({{0, 60, 9}, {5, 60, 2}}), equal_nodes(2, 4), "kubernetes", keys);
    const bool timed = std::string(keys) != "{}";
    CHECK(run.stuck.size() == (timed ? 1 : 2));
    CHECK(run.outcomes[JobId{1}].starts == (timed ? 1U : 0U));  // given back at 10, and taken before the gang is again
  }
}

TEST_CASE("jobs of one task each run as in a queue that starts whatever fits") {
  std::mt19937_64 random(23);
  JobList list;
  for (int i = 0; i < 400; ++i) {
    Job job;
    job.shape = list.shape({{1, {.gpus = static_cast<std::uint16_t>(1 + random() % 8)}}});
    job.submitted = wall_seconds(i * 3);
    job.duration = wall_seconds(1 + static_cast<std::int64_t>(random() % 100));
    job.expected = job.duration;
    list.jobs.push_back(job);
  }
  const JobsRun pods = run_of(list, equal_nodes(4, 8), "kubernetes");
  const JobsRun greedy = run_of(list, equal_nodes(4, 8), "fifo", R"({"backfill": "greedy"})");
  for (const JobId job : list.jobs.ids()) { CHECK(pods.outcomes[job].started == greedy.outcomes[job].started); }
}
