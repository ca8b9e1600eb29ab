#include <algorithm>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "models/jobs/schedulers/gavel/shares.hpp"
#include "small_jobs.hpp"

using namespace athanor;

namespace {

using Shares = std::vector<std::vector<double>>;

double throughput(const GavelJob& job, const std::vector<double>& shares) {
  double sum = 0;
  for (std::size_t type = 0; type < shares.size(); ++type) { sum += job.speeds[type] * shares[type]; }
  return sum;
}

/// The least that a job has of what an equal share of all GPUs would give it, times its GPUs.
double least(const std::vector<GavelJob>& jobs, const Shares& shares, const std::vector<std::uint32_t>& gpus) {
  double all = 0;
  for (const std::uint32_t each : gpus) { all += each; }
  double least = 1e9;
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    std::vector<double> equal;
    for (const std::uint32_t each : gpus) { equal.push_back(each / all); }
    least = std::min(least, throughput(jobs[job], shares[job]) / throughput(jobs[job], equal) * jobs[job].gpus);
  }
  return least;
}

bool fits(const std::vector<GavelJob>& jobs, const Shares& shares, const std::vector<std::uint32_t>& gpus) {
  std::vector<double> used(gpus.size());
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    double time = 0;
    for (std::size_t type = 0; type < gpus.size(); ++type) {
      time += shares[job][type];
      used[type] += shares[job][type] * jobs[job].gpus;
      if (shares[job][type] < 0) { return false; }
    }
    if (time > 1 + 1e-6) { return false; }
  }
  for (std::size_t type = 0; type < gpus.size(); ++type) {
    if (used[type] > gpus[type] + 1e-6) { return false; }
  }
  return true;
}

NodeList two_types(std::uint32_t nodes, std::uint16_t gpus) {
  NodeList list = equal_nodes(2 * nodes, gpus);
  list.gpu_types = {"fast", "slow"};
  for (std::uint32_t node = nodes; node < 2 * nodes; ++node) { list.nodes[NodeId{node}].gpu_type = 1; }
  return list;
}

}  // namespace

TEST_CASE("gavel: GPUs of one type are shared out equally, as far as jobs can use them") {
  const auto shares = [](std::vector<std::uint32_t> jobs, std::uint32_t gpus) {
    std::vector<GavelJob> all;
    for (const std::uint32_t each : jobs) { all.push_back({each, {1.0}, 1}); }
    std::vector<double> found;
    for (const auto& each : gavel_shares(GavelPolicy::max_min_fairness, all, {gpus})) { found.push_back(each[0]); }
    return found;
  };
  CHECK(shares({1, 1}, 1)[0] == doctest::Approx(0.5));
  CHECK(shares({1, 1}, 1)[1] == doctest::Approx(0.5));
  CHECK(shares({1, 1, 1}, 4) == std::vector<double>{1, 1, 1});
  const std::vector<double> of_sizes = shares({1, 2}, 2);  // as many GPUs times time for each
  CHECK(of_sizes[0] == doctest::Approx(1));
  CHECK(of_sizes[1] == doctest::Approx(0.5));
}

TEST_CASE("gavel: who cannot have more does not keep others from fairness among themselves") {
  // The first job can be on the second type alone; the other two share the first type, on which they are alone.
  const Shares shares =
      gavel_shares(GavelPolicy::max_min_fairness, {{1, {0, 1}, 1}, {4, {1, 0}, 1}, {4, {1, 0}, 1}}, {4, 4});
  CHECK(shares[0][1] == doctest::Approx(1));
  CHECK(shares[1][0] == doctest::Approx(0.5));
  CHECK(shares[2][0] == doctest::Approx(0.5));
}

TEST_CASE("gavel: of GPUs of several types each job has those on which it gains most") {
  const std::vector<GavelJob> jobs = {{1, {1, 0.1}, 1}, {1, {1, 1}, 1}};
  const Shares fair = gavel_shares(GavelPolicy::max_min_fairness, jobs, {1, 1});
  CHECK(fair[0][0] == doctest::Approx(1));
  CHECK(fair[1][1] == doctest::Approx(1));
  // The first job comes first, and so do its GPUs; the later one has the others.
  const Shares fifo = gavel_shares(GavelPolicy::fifo, {{1, {1, 0.5}, 1}, {1, {1, 0.5}, 1}}, {1, 1});
  CHECK(fifo[0][0] == doctest::Approx(1));
  CHECK(fifo[1][1] == doctest::Approx(1));
  // One has three times the work: it has three quarters of the one GPU.
  const Shares makespan = gavel_shares(GavelPolicy::makespan, {{1, {1.0}, 300}, {1, {1.0}, 100}}, {1});
  CHECK(makespan[0][0] == doctest::Approx(0.75));
  CHECK(makespan[1][0] == doctest::Approx(0.25));
  const Shares months = gavel_shares(GavelPolicy::makespan, {{1, {1.0}, 259'200'000}, {1, {1.0}, 86'400'000}}, {1});
  CHECK(months[0][0] == doctest::Approx(0.75));
}

TEST_CASE("gavel: shares fit, and no others that are drawn at random are fairer") {
  std::mt19937_64 random(3);
  const auto part = [&] { return std::uniform_real_distribution<double>(0, 1)(random); };
  for (int trial = 0; trial < 60; ++trial) {
    const std::vector<std::uint32_t> gpus = {static_cast<std::uint32_t>(1 + random() % 8),
                                             static_cast<std::uint32_t>(1 + random() % 8)};
    std::vector<GavelJob> jobs;
    for (std::uint64_t job = 0; job < 1 + random() % 6; ++job) { jobs.push_back({1, {0.2 + part(), 0.2 + part()}, 1}); }
    const Shares found = gavel_shares(GavelPolicy::max_min_fairness, jobs, gpus);
    CHECK(fits(jobs, found, gpus));
    const double best = least(jobs, found, gpus);
    for (int draw = 0; draw < 300; ++draw) {
      Shares other = found;
      for (auto& own : other) {
        for (double& each : own) { each = std::max(0.0, each + 0.2 * (part() - 0.5)); }
      }
      if (fits(jobs, other, gpus)) { CHECK(least(jobs, other, gpus) <= best + 1e-6); }
    }
  }
}

TEST_CASE("gavel: jobs take turns in rounds, and each has its share of the time") {
  const NodeList one = equal_nodes(1, 1);
  const JobList two = list_of({{0, 3600, 1}, {0, 3600, 1}});
  const JobsRun run = run_of(two, one, "gavel");
  const WallTime first = std::min(run.outcomes[JobId{0}].ended, run.outcomes[JobId{1}].ended);
  const WallTime last = std::max(run.outcomes[JobId{0}].ended, run.outcomes[JobId{1}].ended);
  CHECK(first >= wall_seconds(7200 - 2 * 360));
  CHECK(first < last);
  CHECK(last >= wall_seconds(7200));
  CHECK(last <= wall_seconds(7200 + 360));
}

TEST_CASE("gavel: each job is on the type of GPU that its speeds call for, and all end") {
  const NodeList nodes = two_types(2, 4);
  JobList jobs = list_of({{0, 7200, 8}, {0, 7200, 8}, {1000, 600, 2}});
  jobs.jobs[JobId{1}].gpu_speeds = jobs.gpu_speeds({{"slow", 0.1}});
  JobsRules rules;
  rules.keep_stints = true;
  const JobsRun run = run_of(jobs, nodes, "gavel", "{}", "best_fit", rules);
  for (const JobId job : jobs.jobs.ids()) { CHECK(run.outcomes[job].state == JobState::completed); }
  WallTime on_fast;
  for (const JobStint& stint : run.stints) {
    if (stint.job == JobId{1} && stint.where.front().node < NodeId{2}) { on_fast += stint.until - stint.since; }
  }
  CHECK(on_fast > run.outcomes[JobId{1}].ran() / 10 * 9);  // else it takes turns with the third job
}

TEST_CASE("gavel: what a job is owed stays where others come and go in each round") {
  const NodeList nodes = two_types(1, 4);
  JobList jobs = list_of({{0, 4 * 3600, 4}, {0, 4 * 3600, 4}});
  const ShapeId fast = jobs.shape({{4, {.gpus = 1, .gpu_types = jobs.gpu_types({"fast"})}}});
  const ShapeId slow = jobs.shape({{1, {.gpus = 1, .gpu_types = jobs.gpu_types({"slow"})}}});
  for (Job& job : jobs.jobs) { job.shape = fast; }
  for (int round = 0; round < 80; ++round) {
    Job passing;
    passing.shape = slow;
    passing.submitted = wall_seconds(360 * round + 10);
    passing.duration = passing.expected = wall_seconds(100);
    jobs.jobs.push_back(passing);
  }
  const JobsRun run = run_of(jobs, nodes, "gavel");
  const WallTime first = std::min(run.outcomes[JobId{0}].ended, run.outcomes[JobId{1}].ended);
  CHECK(first >= wall_seconds(8 * 3600 - 3 * 360));  // they have taken turns
  for (const JobId job : jobs.jobs.ids()) { CHECK(run.outcomes[job].state == JobState::completed); }
}

TEST_CASE("gavel: a job that no type has nodes for is in nobody's way") {
  JobList jobs = list_of({{0, 3600, 1}, {0, 3600, 4}});
  jobs.jobs[JobId{0}].shape = jobs.shape({{3, {.gpus = 5}}});
  const JobsRun run = run_of(jobs, two_types(2, 8), "gavel");
  CHECK(run.outcomes[JobId{0}].starts == 0);
  CHECK(run.outcomes[JobId{1}].ended == wall_seconds(3600));
}

TEST_CASE("gavel: jobs that change from one type to another at once do not wait meanwhile") {
  const NodeList nodes = two_types(1, 8);
  JobList jobs = list_of({{0, 36'000, 8}, {0, 36'000, 8}});
  for (Job& job : jobs.jobs) { job.gpu_speeds = jobs.gpu_speeds({{"slow", 0.5}}); }
  const JobsRun run = run_of(jobs, nodes, "gavel");
  CHECK(run.outcomes[JobId{0}].starts > 10);
  CHECK(run.usage.peak().waiting <= 2);
  CHECK(run.usage.sums().waiting == 0);
}
