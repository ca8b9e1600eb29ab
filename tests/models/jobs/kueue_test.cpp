#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/jobs/mig.hpp"
#include "small_jobs.hpp"

using namespace athanor;

namespace {

/// Jobs of the queues "a" and "b".
JobList list_in(const std::vector<SmallJob>& jobs, const std::string& queues) {
  JobList list = list_of(jobs);
  for (const JobId job : list.jobs.ids()) { list.jobs[job].queue = list.name(queues.substr(job.value, 1)); }
  return list;
}

}  // namespace

TEST_CASE("a job of 4 + 4 GPUs is admitted by a quota of 8 though 8 nodes have 1 free each, and is told so") {
  JobList list;
  const auto add = [&](Shape shape, std::int64_t submitted, std::int64_t duration) {
    Job job;
    job.queue = list.name("a");
    job.shape = list.shape(shape);
    job.submitted = wall_seconds(submitted);
    job.duration = wall_seconds(duration);
    job.expected = job.duration;
    list.jobs.push_back(job);
  };
  add({{2, {.gpus = 4}}}, 0, 10);  // needs nodes with 4
  JobsRules rules;
  const JobsRun run = run_of(list, equal_nodes(8, 1), "kueue",
                             R"({"cluster_queues": [{"name": "a", "nominal_quota": 8}]})", "best_fit", rules);
  REQUIRE(run.stuck.size() == 1);
  CHECK(run.stuck[0].reason == "is admitted by quota, but fits nowhere: 8 GPUs are free, not where it needs them");
}

TEST_CASE("a queue borrows what its cohort does not use, and no more than its limit") {
  const JobList list = list_in({{0, 100, 4}, {0, 100, 4}, {0, 100, 4}, {0, 100, 4}}, "aaaa");
  const auto at_once = [&](const std::string& keys) {
    const JobsRun run = run_of(
        list, equal_nodes(1, 16), "kueue",
        R"({"cluster_queues": [{"name": "a", "nominal_quota": 8)" + keys + R"(}, {"name": "b", "nominal_quota": 8,
        "cohort": "all"}]})");
    int count = 0;
    for (const JobOutcome& outcome : run.outcomes) { count += outcome.started == wall_seconds(0) ? 1 : 0; }
    return count;
  };
  CHECK(at_once("") == 2);
  CHECK(at_once(R"(, "cohort": "all")") == 4);
  CHECK(at_once(R"(, "cohort": "all", "borrowing_limit": 4)") == 3);
}

TEST_CASE("a slice of a GPU takes of a quota what it has of the GPU's memory") {
  JobList list;
  for (int i = 0; i < 8; ++i) {
    Job job;
    job.queue = list.name("a");
    job.shape = list.shape({{1, {.gpu_milli = mig_slice(1).gpu_milli(), .slice = 1}}});
    job.duration = job.expected = wall_seconds(100);
    list.jobs.push_back(job);
  }
  const auto at_once = [&](std::uint16_t gpus, std::uint32_t quota) {
    const JobsRun run =
        run_of(list, equal_nodes(1, gpus), "kueue",
               R"({"cluster_queues": [{"name": "a", "nominal_quota": )" + std::to_string(quota) + "}]}");
    return std::count_if(run.outcomes.begin(), run.outcomes.end(),
                         [](const JobOutcome& outcome) { return outcome.started == wall_seconds(0); });
  };
  CHECK(at_once(2, 1) == 8);  // eighths of one GPU
  CHECK(at_once(1, 1) == 7);  // and no GPU has more than seven such slices
}

TEST_CASE("a strict queue is blocked by its head, and one of best effort is not") {
  const JobList list = list_in({{0, 100, 6}, {1, 100, 6}, {2, 100, 2}}, "aaa");
  const auto third = [&](const std::string& strategy) {
    return run_of(list, equal_nodes(1, 8), "kueue",
                  R"({"cluster_queues": [{"name": "a", "nominal_quota": 8, "strategy": ")" + strategy + R"("}]})")
        .outcomes[JobId{2}]
        .started;
  };
  CHECK(third("strict_fifo") == wall_seconds(100));
  CHECK(third("best_effort_fifo") == wall_seconds(2));
}

TEST_CASE("a queue within its quota takes back what another has borrowed, no more than it needs, the latest first") {
  const JobList list = list_in({{0, 100, 4}, {1, 100, 4}, {2, 100, 4}, {3, 100, 4}, {10, 50, 4}}, "aaaab");
  const auto run = [&](const std::string& policy) {
    return run_of(list, equal_nodes(1, 16), "kueue",
                  R"({"cluster_queues": [{"name": "a", "nominal_quota": 8, "cohort": "all"},
        {"name": "b", "nominal_quota": 8, "cohort": "all", "reclaim_within_cohort": ")" +
                      policy + R"("}]})");
  };
  CHECK(run("never").outcomes[JobId{4}].started == wall_seconds(100));
  const JobsRun reclaimed = run("any");
  CHECK(reclaimed.outcomes[JobId{4}].started == wall_seconds(10));
  const std::uint32_t starts[] = {1, 1, 1, 2, 1};
  for (const JobId job : list.jobs.ids()) { CHECK(reclaimed.outcomes[job].starts == starts[job.value]); }
}
