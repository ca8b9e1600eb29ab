#include <doctest/doctest.h>

#include "models/jobs/summary.hpp"
#include "small_jobs.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

using What = FailureSource::What;
using Law = RandomSpan::Law;

FailureSource every(WallTime between, What what) { return {"it", what, "", {between, Law::fixed, 1}, {}}; }

JobsRun run_on(std::uint32_t nodes, const std::vector<SmallJob>& jobs, const JobsRules& rules) {
  return run_of(list_of(jobs), equal_nodes(nodes, 8), "fifo", "{}", "best_fit", rules);
}

}  // namespace

TEST_CASE("a job that begins again and again without keeping anything ends the run, which names it") {
  JobsRules rules;
  rules.failures.sources = {every(wall_seconds(1'000), What::job)};
  const JobsRun run = run_on(1, {{0, 1'500, 8}}, rules);
  CHECK(run.outcomes[JobId{0}].starts == 100'000);
  CHECK(run.outcomes[JobId{0}].state == JobState::running);
  REQUIRE(run.stuck.size() == 1);
  CHECK(run.stuck[0].reason.find("begun 100000 times") != std::string::npos);
  // With checkpoints each start goes on from more, however often.
  rules.checkpoints = {CheckpointRules::Rule::fixed, wall_seconds(900), {}, {}};
  CHECK(run_on(1, {{0, 1'500, 8}}, rules).outcomes[JobId{0}].state == JobState::completed);
}

TEST_CASE("a job that stands still for ever has its nodes up to the end of the run, and is named where that has none") {
  JobsRules rules;
  rules.failures.sources = {every(wall_seconds(100), What::node)};
  rules.failures.sources[0].speed = Ratio{0, 1};
  const JobsRun endless = run_on(1, {{0, 1'500, 8}}, rules);
  REQUIRE(endless.stuck.size() == 1);
  CHECK(endless.stuck[0].reason == "stands still on its nodes for ever");
  rules.horizon = wall_seconds(10'000);
  const JobList jobs = list_of({{0, 1'500, 8}});
  const JobsRun cut = run_of(jobs, equal_nodes(1, 8), "fifo", "{}", "best_fit", rules);
  const JobsSummary summary = summary_of(cut, jobs, equal_nodes(1, 8));
  CHECK(cut.ended == rules.horizon);
  CHECK(summary.goodput == doctest::Approx(0.01));
  CHECK(cut.failures[0].lost_gpu_seconds == doctest::Approx(8 * 9'900));
}

TEST_CASE("a run whose last job can never begin again ends when that is known, after the last job's end") {
  JobsRules rules;
  rules.failures.sources = {{"it", What::node, "", {wall_seconds(5'000), Law::fixed, 1}, {wall_seconds(60)}}};
  rules.failures.cordon = Cordon{1, 1_wall_d, {}};
  const JobsRun run = run_on(2, {{0, 1'000, 8}, {0, 100'000, 16}}, rules);
  REQUIRE(run.stuck.size() == 1);
  CHECK(run.stuck[0].job == JobId{1});
  CHECK(run.ended > run.outcomes[JobId{0}].ended);
}

TEST_CASE("its limit ends a job that has failed before anybody sees that") {
  JobsRules rules;
  rules.failures.sources = {every(wall_seconds(100), What::node)};
  rules.failures.detection = {wall_seconds(300)};
  JobList jobs = list_of({{0, 1'000, 8}});
  jobs.jobs[JobId{0}].limit = wall_seconds(250);
  const JobsRun run = run_of(jobs, equal_nodes(1, 8), "fifo", "{}", "best_fit", rules);
  CHECK(run.outcomes[JobId{0}].state == JobState::timed_out);
  CHECK(run.outcomes[JobId{0}].ended == wall_seconds(250));
  CHECK(run.outcomes[JobId{0}].time.detecting == wall_seconds(150));
}

TEST_CASE("a job that has failed makes no progress while its nodes get slow") {
  JobsRules rules;
  FailureSource slow = every(wall_seconds(150), What::nic);
  slow.speed = Ratio{1, 2};
  rules.failures.sources = {every(wall_seconds(100), What::job), slow};
  rules.failures.detection = {wall_seconds(300)};
  rules.checkpoints = {CheckpointRules::Rule::fixed, wall_seconds(60), {}, {}};
  rules.horizon = wall_seconds(400);
  NodeList nodes = equal_nodes(1, 8);
  nodes.nodes[NodeId{0}].nics = 8;
  const JobsRun run = run_of(list_of({{0, 1'000, 8}}), nodes, "fifo", "{}", "best_fit", rules);
  CHECK(run.outcomes[JobId{0}].time.useful == wall_seconds(60));
  CHECK(run.outcomes[JobId{0}].time.lost == wall_seconds(40));
}

TEST_CASE("nodes fail while jobs wait for the time when their scheduler is asked") {
  JobsRules rules;
  rules.failures.sources = {{"it", What::node, "", {wall_seconds(1'000), Law::exponential, 1}, {wall_seconds(60)}}};
  for (rules.seed = 1; rules.seed <= 20; ++rules.seed) {
    const JobsRun run =
        run_of(list_of({{10, 900, 8}}), equal_nodes(1, 8), "gavel", R"({"round": "1h"})", "best_fit", rules);
    CHECK(run.failures[0].failures > 0);
    CHECK(run.outcomes[JobId{0}].state == JobState::completed);
  }
}
