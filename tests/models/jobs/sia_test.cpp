#include <algorithm>
#include <random>

#include <doctest/doctest.h>

#include "models/jobs/schedulers/sia_choice.hpp"
#include "small_jobs.hpp"

using namespace athanor;

namespace {

/// The least sum of costs of all choices for the jobs from `job` on.
double least_cost(const std::vector<SiaJob>& jobs, std::size_t job, std::uint32_t gpus) {
  if (job == jobs.size()) { return 0; }
  double least = jobs[job].without + least_cost(jobs, job + 1, gpus);
  for (std::size_t i = 0; i < jobs[job].sizes.size(); ++i) {
    if (jobs[job].sizes[i] > gpus) { continue; }
    least = std::min(least, jobs[job].costs[i] + least_cost(jobs, job + 1, gpus - jobs[job].sizes[i]));
  }
  return least;
}

}  // namespace

TEST_CASE("a job gets a power of two within a node, or whole nodes") {
  CHECK(sia_sizes(8, 30) == std::vector<std::uint32_t>{1, 2, 4, 8, 16, 24});
  CHECK(sia_sizes(6, 12) == std::vector<std::uint32_t>{1, 2, 4, 6, 12});
  CHECK(sia_sizes(1, 3) == std::vector<std::uint32_t>{1, 2, 3});
  CHECK(sia_sizes(4, 0).empty());
}

TEST_CASE("the sizes of all jobs are the cheapest that there are") {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<SiaJob> jobs(1 + random() % 5);
    for (SiaJob& job : jobs) {
      job.sizes = sia_sizes(4, static_cast<std::uint32_t>(random() % 13));
      for (std::size_t i = 0; i < job.sizes.size(); ++i) {
        job.costs.push_back(static_cast<double>(1 + random() % 100) / 100);
      }
      job.without = 1.1;
    }
    const auto gpus = static_cast<std::uint32_t>(random() % 17);
    const std::vector<std::uint32_t> sizes = cheapest_sizes(jobs, gpus);
    double cost = 0;
    std::uint32_t sum = 0;
    for (std::size_t job = 0; job < jobs.size(); ++job) {
      const auto at = std::find(jobs[job].sizes.begin(), jobs[job].sizes.end(), sizes[job]);
      cost += sizes[job] == 0 ? 1.1 : jobs[job].costs.at(static_cast<std::size_t>(at - jobs[job].sizes.begin()));
      sum += sizes[job];
    }
    REQUIRE(sum <= gpus);
    REQUIRE(cost == doctest::Approx(least_cost(jobs, 0, gpus)));
  }
}

TEST_CASE("powers of two always find places on nodes of a power of two, and who has as many as before mostly stays") {
  std::mt19937_64 random(9);
  const std::vector<std::uint32_t> capacity(4, 8);
  std::vector<GpuRow> present(12, GpuRow(4));
  int stayed = 0;
  int kept = 0;
  for (int round = 0; round < 500; ++round) {
    std::vector<std::uint32_t> sizes;
    std::uint32_t left = 32;
    for (std::size_t job = 0; job < present.size(); ++job) {
      const std::uint32_t before = gpus_of(present[job]);
      const std::vector<std::uint32_t> all = sia_sizes(8, left);
      const std::uint32_t drawn = all.empty() ? 0 : all[random() % all.size()];
      sizes.push_back(random() % 3 > 0 && before <= left ? before : drawn);
      left -= sizes.back();
    }
    const std::vector<GpuRow> rows = sia_places(sizes, present, capacity);
    for (std::size_t node = 0; node < 4; ++node) {
      std::uint32_t on = 0;
      for (const GpuRow& row : rows) { on += row[node]; }
      REQUIRE(on <= 8);
    }
    for (std::size_t job = 0; job < rows.size(); ++job) {
      REQUIRE(gpus_of(rows[job]) == sizes[job]);
      REQUIRE(nodes_of(rows[job]) == (sizes[job] + 7) / 8);
      kept += sizes[job] > 0 && gpus_of(present[job]) == sizes[job] ? 1 : 0;
      stayed += sizes[job] > 0 && rows[job] == present[job] ? 1 : 0;
    }
    present = rows;
  }
  CHECK(stayed > kept / 2);
}

TEST_CASE("jobs under Sia double their GPUs each minute, and give them up to those that come") {
  JobList jobs = list_of({{0, 600, 8}, {300, 600, 8}});
  for (Job& job : jobs.jobs) {
    job.least_gpus = 1;
    job.most_gpus = 8;
  }
  JobsRules rules;
  rules.keep_stints = true;
  const JobsRun run = run_of(jobs, equal_nodes(1, 8), "sia", R"({"move": "0 s", "without": 2})", "best_fit", rules);
  std::vector<std::uint32_t> first;
  for (const JobStint& stint : run.stints) {
    if (stint.job.value == 0 && stint.since < wall_seconds(300)) { first.push_back(stint.where.front().gpus.count()); }
  }
  CHECK(first == std::vector<std::uint32_t>{1, 2, 4, 8});
  CHECK(run.outcomes[JobId{1}].started == wall_seconds(300));
  CHECK(run.outcomes[JobId{0}].gpu_seconds == doctest::Approx(600 * 8));
  CHECK(run.outcomes[JobId{1}].gpu_seconds == doctest::Approx(600 * 8));
}
