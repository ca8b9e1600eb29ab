#include <algorithm>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "small_jobs.hpp"

using namespace athanor;

namespace {

constexpr std::int64_t kTick = 60;

/// Two lists of jobs on one pool of GPUs, tick by tick, as the simulator of Pollux (OSDI 2021) does it: when each ends.
std::vector<std::int64_t> ends_by_ticks(const std::vector<SmallJob>& jobs, std::uint32_t gpus, std::int64_t threshold) {
  std::vector<std::int64_t> ends(jobs.size());
  std::vector<std::int64_t> left;
  for (const SmallJob& job : jobs) { left.push_back(job.duration); }
  std::vector<std::int64_t> had(jobs.size());
  std::vector<bool> running(jobs.size());
  std::vector<bool> seen(jobs.size());
  std::vector<std::size_t> lists[2];
  for (std::int64_t now = 0; std::count(ends.begin(), ends.end(), 0) > 0; now += kTick) {
    for (std::size_t job = 0; job < jobs.size(); ++job) {
      if (!seen[job] && jobs[job].submitted <= now) {
        lists[0].push_back(job);
        seen[job] = true;
      }
    }
    const std::vector<std::size_t> first = lists[0];
    for (const std::size_t job : first) {
      if (had[job] * jobs[job].gpus < threshold) { continue; }
      lists[0].erase(std::find(lists[0].begin(), lists[0].end(), job));
      lists[1].push_back(job);
    }
    std::uint32_t free = gpus;
    for (const auto& list : lists) {
      for (const std::size_t job : list) {
        running[job] = ends[job] == 0 && jobs[job].gpus <= free;
        if (running[job]) { free -= jobs[job].gpus; }
      }
    }
    for (std::size_t job = 0; job < jobs.size(); ++job) {
      if (!running[job]) { continue; }
      had[job] += kTick;
      if (left[job] <= kTick) { ends[job] = now + left[job]; }
      left[job] -= kTick;
    }
  }
  return ends;
}

}  // namespace

TEST_CASE("least attained service of two queues is what ticks and lists make of it") {
  std::mt19937_64 random(13);
  for (int round = 0; round < 30; ++round) {
    std::vector<SmallJob> jobs;
    std::int64_t submitted = 0;
    for (int i = 0; i < 80; ++i) {
      submitted += static_cast<std::int64_t>(random() % 400);
      jobs.push_back(
          {submitted, 1 + static_cast<std::int64_t>(random() % 4'000), 1 + static_cast<std::uint32_t>(random() % 12)});
    }
    const std::vector<std::int64_t> ends = ends_by_ticks(jobs, 16, 5'000);
    const JobList list = list_of(jobs);
    const JobsRun run = run_of(list, equal_nodes(1, 16), "las", R"({"thresholds": [5000]})");
    for (const JobId job : list.jobs.ids()) { REQUIRE(run.outcomes[job].ended == wall_seconds(ends[job.value])); }
  }
}

TEST_CASE("a job falls when it has had its GPU time, and yields to one that comes then, at the instant with period 0") {
  const std::vector<SmallJob> jobs = {{0, 1000, 2}, {10, 100, 2}};
  const JobsRun run = run_of(list_of(jobs), equal_nodes(1, 2), "las", R"({"thresholds": [200], "period": "0 s"})");
  CHECK(run.outcomes[JobId{1}].started == wall_seconds(100));  // 2 GPUs for 100 s are 200 GPU seconds
  CHECK(run.outcomes[JobId{1}].ended == wall_seconds(200));
  CHECK(run.outcomes[JobId{0}].ended == wall_seconds(1100));
}

TEST_CASE("a job that has waited long enough goes back to the first queue") {
  // One GPU: the first job falls at 100 and waits while others, each in the first queue, come one after the other.
  std::vector<SmallJob> jobs = {{0, 150, 1}};
  for (int i = 0; i < 20; ++i) { jobs.push_back({i < 4 ? 50 : 450, 90, 1}); }
  const auto ended = [&](const char* keys) {
    return run_of(list_of(jobs), equal_nodes(1, 1), "las", keys).outcomes[JobId{0}].ended;
  };
  CHECK(ended(R"({"thresholds": [100], "period": "0 s"})") == wall_seconds(100 + 20 * 90 + 50));
  // It has run 100 s: after 300 s of waiting, at 400, it is in the first queue before those of 450.
  CHECK(ended(R"({"thresholds": [100], "period": "0 s", "promote": 3})") == wall_seconds(100 + 4 * 90 + 50));
}
