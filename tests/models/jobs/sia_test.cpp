#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/jobs/gpu_speed.hpp"
#include "models/jobs/schedulers/sia_choice.hpp"
#include "models/jobs/schedulers/sia_program.hpp"
#include "small_jobs.hpp"

using namespace athanor;

namespace {

/// The least sum of costs of all choices for the jobs from `job` on.
double least_cost(const std::vector<SiaJob>& jobs, std::size_t job, std::vector<std::uint32_t> gpus) {
  if (job == jobs.size()) { return 0; }
  double least = jobs[job].without + least_cost(jobs, job + 1, gpus);
  for (const SiaOption& option : jobs[job].options) {
    if (option.gpus > gpus[option.type]) { continue; }
    gpus[option.type] -= option.gpus;
    least = std::min(least, option.cost + least_cost(jobs, job + 1, gpus));
    gpus[option.type] += option.gpus;
  }
  return least;
}

/// Jobs that may have the sizes of nodes with 4 GPUs, of any of some types, at drawn costs.
std::vector<SiaJob> drawn_jobs(std::size_t count, std::uint16_t types, std::mt19937_64& random) {
  std::vector<SiaJob> jobs(count);
  for (SiaJob& job : jobs) {
    for (std::uint16_t type = 0; type < types; ++type) {
      for (const std::uint32_t size : sia_sizes(4, static_cast<std::uint32_t>(random() % 13))) {
        job.options.push_back({type, size, static_cast<double>(1 + random() % 120) / 100});
      }
    }
    job.without = 1.1;
  }
  return jobs;
}

/// What was chosen costs altogether. Requires that there are so many GPUs of each type.
double cost_of(const std::vector<std::optional<SiaOption>>& chosen, const std::vector<SiaJob>& jobs,
               std::vector<std::uint32_t> gpus) {
  double cost = 0;
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    cost += chosen[job] ? chosen[job]->cost : jobs[job].without;
    if (!chosen[job]) { continue; }
    REQUIRE(chosen[job]->gpus <= gpus[chosen[job]->type]);
    gpus[chosen[job]->type] -= chosen[job]->gpus;
  }
  return cost;
}

/// Elastic jobs of up to so many GPUs, as fast as `speeds` on "A" and "B".
JobList typed_jobs(const std::vector<SmallJob>& small, std::uint32_t most, const std::vector<GpuSpeeds>& speeds) {
  JobList jobs = list_of(small);
  for (const JobId job : jobs.jobs.ids()) {
    jobs.jobs[job].least_gpus = 1;
    jobs.jobs[job].most_gpus = most;
    jobs.jobs[job].gpu_speeds = jobs.gpu_speeds(speeds[job.value]);
  }
  return jobs;
}

}  // namespace

TEST_CASE("a job gets a power of two within a node, or whole nodes") {
  CHECK(sia_sizes(8, 30) == std::vector<std::uint32_t>{1, 2, 4, 8, 16, 24});
  CHECK(sia_sizes(6, 12) == std::vector<std::uint32_t>{1, 2, 4, 6, 12});
  CHECK(sia_sizes(1, 3) == std::vector<std::uint32_t>{1, 2, 3});
  CHECK(sia_sizes(4, 0).empty());
}

TEST_CASE("what all jobs get is the cheapest that there is, and of several types nearly") {
  std::mt19937_64 random(5);
  for (std::uint16_t types = 1; types <= 3; ++types) {
    for (int round = 0; round < 100; ++round) {
      const std::vector<SiaJob> jobs = drawn_jobs(1 + random() % 5, types, random);
      std::vector<std::uint32_t> gpus;
      for (std::uint16_t type = 0; type < types; ++type) { gpus.push_back(static_cast<std::uint32_t>(random() % 17)); }
      const double least = least_cost(jobs, 0, gpus);
      const double cost = cost_of(cheapest_options(jobs, gpus), jobs, gpus);
      REQUIRE(cost >= doctest::Approx(least));
      const double saved = 1.1 * static_cast<double>(jobs.size()) - cost;
      REQUIRE(cost <= doctest::Approx(least + (types == 1 ? 0 : kSiaGap * saved)));
    }
  }
}

TEST_CASE("many jobs on one type cost nearly the same size by size and as an integer program") {
  std::mt19937_64 random(6);
  for (int round = 0; round < 30; ++round) {
    const std::vector<SiaJob> jobs = drawn_jobs(40, 1, random);
    const double least = cost_of(cheapest_options(jobs, {64}), jobs, {64});
    const double cost = cost_of(solve_sia_program(jobs, {64}), jobs, {64});
    REQUIRE(cost >= doctest::Approx(least));
    REQUIRE(cost <= doctest::Approx(least + kSiaGap * (1.1 * 40 - cost)));
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

TEST_CASE("under Sia each job has GPUs of one type, those on which all together go on best") {
  NodeList nodes = equal_nodes(3, 4);
  nodes.gpu_types = {"A", "B"};
  nodes.nodes[NodeId{0}].gpu_type = 1;
  const std::vector<GpuSpeeds> speeds = {{{"B", 0.25}}, {}, {{"B", 0.5}}};
  // 10,000 s of work with 4 GPUs each; the second is as fast on both.
  JobList jobs = typed_jobs({{0, 10'000, 4}, {0, 10'000, 4}, {0, 10'000, 4}}, 4, speeds);
  const auto placement = placement_of("best_fit", jobs, nodes);
  const auto scheduler = scheduler_of("sia", jobs, nodes, R"({"move": "0 s"})");
  GpuSpeed model(std::make_unique<FullSpeed>(), jobs, nodes);
  JobsRules rules;
  rules.keep_stints = true;
  const JobsRun run = simulate_jobs(jobs, nodes, *placement, *scheduler, model, rules);
  for (const JobStint& stint : run.stints) {
    for (const NodeShare& share : stint.where) {
      CHECK(nodes.nodes[share.node].gpu_type == nodes.nodes[stint.where.front().node].gpu_type);
    }
  }
  for (const JobStint& stint : run.stints) {
    if (stint.until < wall_seconds(5000) || stint.since > wall_seconds(5000)) { continue; }
    CHECK(gpu_milli_of(stint.where, jobs.shape(stint.job)) == 4000);
    CHECK(nodes.nodes[stint.where.front().node].gpu_type == (stint.job.value == 1 ? 1 : 0));
  }
  // 1, 2, then 4 GPUs: 60 / 4 + 60 / 2 s of work in the first two minutes.
  for (const JobOutcome& outcome : run.outcomes) { CHECK(outcome.ended == wall_seconds(120 + 10'000 - 15 - 30)); }
}

TEST_CASE("under Sia a job that needs GPUs of a type gets no others") {
  NodeList nodes = equal_nodes(2, 4);
  nodes.gpu_types = {"A", "B"};
  nodes.nodes[NodeId{1}].gpu_type = 1;
  JobList jobs = typed_jobs({{0, 1000, 4}, {0, 1000, 4}}, 4, {{}, {}});
  const GpuTypesId only = jobs.gpu_types({"B"});
  for (Job& job : jobs.jobs) { job.shape = jobs.shape({{4, {.gpus = 1, .gpu_types = only}}}); }
  JobsRules rules;
  rules.keep_stints = true;
  const JobsRun run = run_of(jobs, nodes, "sia", "{}", "best_fit", rules);
  CHECK(run.stints.size() > 2);
  for (const JobStint& stint : run.stints) { CHECK(stint.where.front().node == NodeId{1}); }
}
