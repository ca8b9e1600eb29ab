#include "models/jobs/dependencies.hpp"

#include <doctest/doctest.h>

#include "models/jobs/summary.hpp"
#include "small_jobs.hpp"

using namespace athanor;

namespace {

/// Jobs of one GPU and ten seconds, submitted at once, with these names and what they wait for.
JobList named(const std::vector<std::pair<std::string, std::vector<std::string>>>& jobs) {
  JobList list = list_of(std::vector<SmallJob>(jobs.size(), {0, 10, 1}));
  for (std::uint32_t i = 0; i < jobs.size(); ++i) {
    Job& job = list.jobs[JobId{i}];
    job.name = list.name(jobs[i].first);
    std::vector<NameId> after;
    for (const std::string& name : jobs[i].second) { after.push_back(list.name(name)); }
    job.after = list.dependencies(after);
  }
  return list;
}

std::vector<std::int64_t> starts(const JobsRun& run) {
  std::vector<std::int64_t> starts;
  for (const JobOutcome& each : run.outcomes) { starts.push_back(each.started.count() / 1'000'000); }
  return starts;
}

}  // namespace

TEST_CASE("a job begins when all jobs of the names that it waits for have been completed") {
  const JobList jobs = named({{"evaluate", {"train", "data"}}, {"data", {}}, {"train", {"data"}}, {"train", {"data"}}});
  CHECK(starts(run_of(jobs, equal_nodes(1, 8), "fifo")) == std::vector<std::int64_t>{20, 0, 10, 10});
  CHECK(starts(run_of(jobs, equal_nodes(1, 1), "fifo")) == std::vector<std::int64_t>{30, 0, 10, 20});
}

TEST_CASE("who waits for a job that its limit ended never begins, and says for whom it waits") {
  JobList jobs = named({{"first", {}}, {"second", {"first"}}});
  jobs.jobs[JobId{0}].limit = wall_seconds(5);
  const JobsRun run = run_of(jobs, equal_nodes(1, 8), "fifo");
  CHECK(run.outcomes[JobId{0}].state == JobState::timed_out);
  CHECK(run.outcomes[JobId{1}].state == JobState::waiting);
  REQUIRE(run.stuck.size() == 1);
  CHECK(run.stuck[0].reason == "waits for 'first', which is not completed");
}

TEST_CASE("jobs that wait for each other in a circle are found, others are not") {
  const JobList straight = named({{"a", {}}, {"b", {"a"}}, {"c", {"a", "b"}}, {"d", {"c", "b"}}});
  CHECK(circle_of_dependencies(straight).empty());
  const JobList circle = named({{"a", {}}, {"b", {"a", "d"}}, {"c", {"b"}}, {"d", {"c"}}});
  CHECK(circle_of_dependencies(circle).size() == 3);
  CHECK(circle_of_dependencies(named({{"a", {"a"}}})).size() == 1);
}

TEST_CASE("a job that fails more often than it is tried again is given up, and its work is lost") {
  JobList jobs = list_of({{0, 1'000'000, 8}});
  jobs.jobs[JobId{0}].retries = 3;
  JobsRules rules;
  rules.failures.sources = {{"it", FailureSource::What::job, "", {wall_seconds(100)}, {}}};
  const JobsRun run = run_of(jobs, equal_nodes(1, 8), "fifo", "{}", "best_fit", rules);
  const JobOutcome& outcome = run.outcomes[JobId{0}];
  CHECK(outcome.state == JobState::failed);
  CHECK(outcome.interruptions == 4);
  CHECK(outcome.time.useful == WallTime{});
  CHECK(outcome.time.all() == outcome.ended);
  CHECK(summary_of(run, jobs, equal_nodes(1, 8)).failed == 1);
}
