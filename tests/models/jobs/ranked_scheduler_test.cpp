#include <algorithm>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "models/jobs/summary.hpp"
#include "small_jobs.hpp"

using namespace athanor;

namespace {

/// The least sum of completion times on one GPU of any schedule, second by second with every choice tried.
std::int64_t least_sum(const std::vector<SmallJob>& jobs, std::vector<std::int64_t> left, std::int64_t now) {
  if (std::all_of(left.begin(), left.end(), [](std::int64_t span) { return span == 0; })) { return 0; }
  std::int64_t best = INT64_MAX;
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    if (left[job] == 0 || jobs[job].submitted > now) { continue; }
    std::vector<std::int64_t> then = left;
    const std::int64_t ended = --then[job] == 0 ? now + 1 - jobs[job].submitted : 0;
    best = std::min(best, ended + least_sum(jobs, then, now + 1));
  }
  return best < INT64_MAX ? best : least_sum(jobs, left, now + 1);
}

}  // namespace

TEST_CASE("the shortest remaining time first gives the least mean completion on one GPU that any schedule can") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 60; ++round) {
    std::vector<SmallJob> jobs;
    std::vector<std::int64_t> left;
    for (int job = 0; job < 4; ++job) {
      jobs.push_back({static_cast<std::int64_t>(random() % 5), 1 + static_cast<std::int64_t>(random() % 3), 1});
      left.push_back(jobs.back().duration);
    }
    const JobList list = list_of(jobs);
    const JobsRun run = run_of(list, equal_nodes(1, 1), "srtf");
    const double mean = static_cast<double>(least_sum(jobs, left, 0)) / 4;
    CHECK(summary_of(run, list, equal_nodes(1, 1)).completion.mean == doctest::Approx(mean));
  }
}

TEST_CASE("a shorter job takes the GPU of a longer one, which goes on where it was") {
  const JobsRun run = run_of(list_of({{0, 100, 1}, {10, 20, 1}}), equal_nodes(1, 1), "srtf");
  CHECK(run.outcomes[JobId{1}].started == wall_seconds(10));
  CHECK(run.outcomes[JobId{1}].ended == wall_seconds(30));
  CHECK(run.outcomes[JobId{0}].ended == wall_seconds(120));
  CHECK(run.outcomes[JobId{0}].starts == 2);
  CHECK(run.outcomes[JobId{0}].ran() == wall_seconds(100));
}

TEST_CASE("a job that has nearly ended keeps its GPU from a shorter one") {
  const JobsRun run = run_of(list_of({{0, 100, 1}, {90, 11, 1}}), equal_nodes(1, 1), "srtf");
  CHECK(run.outcomes[JobId{0}].starts == 1);
  CHECK(run.outcomes[JobId{1}].started == wall_seconds(100));
}

TEST_CASE("no more jobs lose their nodes than a shorter one needs, and not for one that would not fit even so") {
  // Two nodes with 4 GPUs: the long jobs have 2 GPUs each, and a short one wants 4 on a node.
  const std::vector<SmallJob> jobs = {{0, 1000, 2}, {0, 1001, 2}, {0, 1002, 2}, {0, 1003, 2}, {10, 5, 4}};
  const JobList list = list_of(jobs);
  const JobsRun run = run_of(list, equal_nodes(2, 4), "srtf", "{}", "consolidate");
  std::uint32_t restarts = 0;
  for (const JobOutcome& outcome : run.outcomes) { restarts += outcome.starts - 1; }
  CHECK(run.outcomes[JobId{4}].started == wall_seconds(10));
  CHECK(restarts == 2);
  // Where each node has a job that has nearly ended, the short one waits for the first of them, for the 4 GPUs of those
  // behind it are not on one node.
  const std::vector<SmallJob> apart = {{0, 12, 2}, {1, 999, 2}, {2, 12, 2}, {3, 1000, 2}, {10, 5, 4}};
  const JobsRun second = run_of(list_of(apart), equal_nodes(2, 4), "srtf", "{}", "consolidate");
  CHECK(second.outcomes[JobId{3}].starts == 1);
  CHECK(second.outcomes[JobId{1}].starts == 2);
  CHECK(second.outcomes[JobId{1}].ended == wall_seconds(1000 + 2));  // it waited from 12 to 14
  CHECK(second.outcomes[JobId{4}].started == wall_seconds(12));
}
