#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "gangs.hpp"
#include "models/jobs/gpu_hours.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

using What = FailureSource::What;
using Law = RandomSpan::Law;

const char* const kWithoutDrf = R"({"tiers": [["priority", "gang"], ["nodeorder"]]})";

JobsRules rules_of(Restart restart, std::vector<FailureSource> sources) {
  JobsRules rules;
  rules.failures.sources = std::move(sources);
  rules.failures.restart = restart;
  rules.keep_stints = true;
  return rules;
}

/// Each node fails after this time with a probability of one half, is repaired after that, and never fails again in the
/// time of a test.
FailureSource once(std::int64_t after, std::int64_t repair) {
  return {"node",
          What::node,
          "",
          {WallTime{}, Law::empirical, 1, {wall_seconds(after), 10'000'000_wall_h}},
          {wall_seconds(repair)}};
}

std::uint32_t tasks_of(const Allocation& where) {
  std::uint32_t sum = 0;
  for (const NodeShare& share : where) { sum += share.tasks; }
  return sum;
}

/// A run of the first seed with which just one node fails.
JobsRun run_with_one_failure(const JobList& list, std::uint32_t nodes, JobsRules rules, const std::string& keys,
                             const std::string& scheduler = "volcano") {
  for (rules.seed = 1;; ++rules.seed) {
    JobsRun run = run_of(list, equal_nodes(nodes, 8), scheduler, keys, "best_fit", rules);
    if (run.outages.size() == 1) { return run; }
  }
}

/// A gang on all of four nodes for 10,000 s, and at 1,500 s, while a node of it is lost, a job of one node.
JobList gang_and_filler(std::int32_t priority = 0, std::int64_t filler = 50'000) {
  return list_of({Gang{0, 10'000, 4, 8, "", priority}, Gang{1'500, filler, 1, 8}});
}

/// A node of it fails at 1,000 s, which is seen at 1,060 s, and is repaired at 2,000 s.
JobsRules losing_one(Restart restart = Restart::lost_tasks) {
  JobsRules rules = rules_of(restart, {once(1'000, 1'000)});
  rules.failures.detection = {60_wall_s};
  rules.restart_overhead = 30_wall_s;
  rules.checkpoints = {CheckpointRules::Rule::fixed, 300_wall_s, {}, {}};
  return rules;
}

void check_accounts(const JobsRun& run, const JobList& list, const NodeList& nodes) {
  std::map<JobId, double> had;
  for (const JobStint& stint : run.stints) {
    CHECK(tasks_of(stint.where) <= list.shape(stint.job).front().tasks);
    had[stint.job] += static_cast<double>(gpu_milli_of(stint.where, list.shape(stint.job))) / Inventory::kWhole *
                      seconds(stint.until - stint.since);
  }
  double all = 0;
  for (const JobId job : list.jobs.ids()) {
    CHECK(run.outcomes[job].gpu_seconds == doctest::Approx(had[job]));
    all += run.outcomes[job].gpu_seconds;
  }
  const GpuHours hours = gpu_hours_of(run, list, nodes);
  const double used = hours.useful + hours.writing + hours.lost + hours.detecting + hours.incomplete + hours.starting;
  CHECK(used == doctest::Approx(all / 3'600));
  CHECK(used + hours.down + hours.idle == doctest::Approx(nodes.gpus() * seconds(run.ended) / 3'600));
}

/// All that jobs had is work at full speed, checkpoints, or lost to something that failed.
void check_causes(const JobsRun& run, const JobList& list) {
  double work = 0;
  double had = 0;
  WallTime incomplete;
  for (const JobId job : list.jobs.ids()) {
    const JobOutcome& outcome = run.outcomes[job];
    work += static_cast<double>(gpu_milli_of(list.shape(job))) / Inventory::kWhole *
            seconds(outcome.time.useful + outcome.time.writing);
    had += outcome.gpu_seconds;
    incomplete += outcome.time.incomplete;
    if (outcome.state == JobState::completed) { CHECK(outcome.time.useful == list.jobs[job].duration); }
  }
  double lost = 0;
  for (const FailureAccount& account : run.failures) { lost += account.lost_gpu_seconds; }
  CHECK(incomplete > 0_wall_s);
  CHECK(work + lost == doctest::Approx(had).epsilon(1e-9));
}

JobList random_gangs() {
  std::mt19937_64 random(11);
  std::vector<Gang> gangs;
  for (int i = 0; i < 60; ++i) {
    gangs.push_back(
        {i * 400, 500 + static_cast<std::int64_t>(random() % 9'000), 1 + static_cast<std::uint32_t>(random() % 5),
         static_cast<std::uint16_t>(random() % 2 == 0 ? 8 : 4), "", static_cast<std::int32_t>(random() % 3)});
  }
  return list_of(gangs);
}

JobsRules failing_often() {
  JobsRules rules =
      rules_of(Restart::lost_tasks, {{"node", What::node, "", {40'000_wall_s, Law::exponential, 1}, {3'000_wall_s}},
                                     {"rack", What::rack, "", {150'000_wall_s, Law::exponential, 1}, {5'000_wall_s}, 2},
                                     {"software", What::job, "", {30'000_wall_s, Law::exponential, 1}, {}}});
  rules.failures.detection = {200_wall_s};
  rules.restart_overhead = 50_wall_s;
  rules.checkpoints = {CheckpointRules::Rule::fixed, 600_wall_s, 20_wall_s, 30_wall_s};
  return rules;
}

const std::vector<std::pair<std::string, std::string>> kSchedulers = {
    {"volcano", "{}"}, {"volcano", kWithoutDrf}, {"kubernetes", "{}"}, {"kubernetes", R"({"gang_timeout": "10min"})"}};

}  // namespace

TEST_CASE("a gang that has lost a task keeps the others, does nothing without it, and goes on when it has a place") {
  const JobList list = list_of({Gang{0, 10'000, 4, 8}});
  for (const std::string scheduler : {"volcano", "kubernetes"}) {
    CAPTURE(scheduler);
    const JobsRun run = run_with_one_failure(list, 4, losing_one(), "{}", scheduler);
    const JobOutcome& gang = run.outcomes[JobId{0}];
    REQUIRE(run.stints.size() == 3);
    CHECK(tasks_of(run.stints[0].where) == 4);
    CHECK(run.stints[1].since == 1'060_wall_s);
    CHECK(tasks_of(run.stints[1].where) == 3);
    CHECK(run.stints[1].until == 2'000_wall_s);
    CHECK(tasks_of(run.stints[2].where) == 4);
    for (const NodeShare& share : run.stints[1].where) { CHECK(share.node != run.outages[0].node); }
    CHECK(gang.time.detecting == 60_wall_s);
    CHECK(gang.time.incomplete == 940_wall_s);
    CHECK(gang.time.starting == 30_wall_s);
    // It falls back to its last checkpoint, once.
    CHECK(gang.time.lost == (1'000_wall_s - gang.started) % 300_wall_s);
    CHECK(gang.time.useful == 10'000_wall_s);
    CHECK(gang.ended - gang.started == gang.time.all());
    CHECK(gang.interruptions == 1);
    const double lost = 32 * seconds(gang.time.lost + 90_wall_s) + 24 * 940;
    CHECK(run.failures[0].lost_gpu_seconds == doctest::Approx(lost));
    check_accounts(run, list, equal_nodes(4, 8));
  }
}

TEST_CASE("drf gives what is repaired to whoever has nothing yet, though its gang is older and stands still") {
  const auto lacked = [](const JobList& list, const std::string& keys, Restart restart = Restart::lost_tasks) {
    const JobsRun run = run_with_one_failure(list, 4, losing_one(restart), keys);
    return run.outcomes[JobId{0}].time.incomplete;
  };
  // Until the filler has ended, 50,000 s after the session behind the repair.
  CHECK(lacked(gang_and_filler(), R"({"tiers": [["gang", "drf"], ["nodeorder"]]})") == 50'940_wall_s);
  CHECK(lacked(gang_and_filler(), R"({"tiers": [["drf", "gang"], ["nodeorder"]]})") == 50'940_wall_s);
  // Without drf the older comes first; priority is asked before.
  CHECK(lacked(gang_and_filler(), kWithoutDrf) == 940_wall_s);
  CHECK(lacked(gang_and_filler(1), R"({"tiers": [["priority", "gang", "drf"], ["nodeorder"]]})") == 940_wall_s);
  CHECK(lacked(gang_and_filler(1), R"({"tiers": [["drf"], ["priority", "gang"], ["nodeorder"]]})") == 50'940_wall_s);
  CHECK(lacked(gang_and_filler(), "{}", Restart::requeue) == 0_wall_s);
  // As installed, `overcommit` does not even let the filler in before the repair, and its task comes a session late.
  CHECK(lacked(gang_and_filler(), "{}") == 940_wall_s);
}

TEST_CASE("a gang that lacks a task preempts for that alone, and one that is preempted loses all") {
  const std::string preempts = R"({"actions": ["enqueue", "allocate", "preempt", "backfill"],
                                   "tiers": [["priority", {"name": "gang", "preemptable": false}], ["nodeorder"]]})";
  // At 1,500 s a fifth node is taken by a job of lower priority, which was there before the failure.
  const JobList low = list_of({Gang{0, 10'000, 4, 8, "", 1}, Gang{10, 50'000, 1, 8}});
  const JobsRun run = run_with_one_failure(low, 5, losing_one(), preempts);
  const JobOutcome& gang = run.outcomes[JobId{0}];
  if (gang.interruptions == 1) {
    CHECK(gang.time.incomplete > 29_wall_s);
    CHECK(gang.time.incomplete < 40_wall_s);  // the grace period
    CHECK(run.outcomes[JobId{1}].starts == 2);
  }
  const JobList high = list_of({Gang{0, 10'000, 4, 8}, Gang{1'500, 100, 1, 8, "", 1}});
  const JobsRun taken = run_with_one_failure(high, 4, losing_one(), preempts);
  // From 1,501 s on it has nothing, and begins again behind the repair.
  CHECK(taken.outcomes[JobId{0}].time.incomplete == 441_wall_s);
  CHECK(taken.outcomes[JobId{0}].time.useful == 10'000_wall_s);
  CHECK(taken.failures[0].lost_gpu_seconds > 24 * 441.0);
}

TEST_CASE("an elastic job that has lost a task and has enough left goes on slower, and gets another") {
  JobList list = list_of({Gang{0, 10'000, 4, 8}});
  list.jobs[JobId{0}].least_gpus = 24;
  list.jobs[JobId{0}].most_gpus = 32;
  const JobsRun run = run_with_one_failure(list, 4, losing_one(), "{}");
  const JobOutcome& job = run.outcomes[JobId{0}];
  CHECK(job.time.incomplete == 0_wall_s);
  REQUIRE(run.stints.size() == 3);
  CHECK(tasks_of(run.stints[1].where) == 3);
  CHECK(run.stints[1].until == 2'000_wall_s);
  CHECK(tasks_of(run.stints[2].where) == 4);
  // 910 s at three quarters of full speed, and two more starts.
  const WallTime slower = (2'000_wall_s - 1'090_wall_s) / 4;
  const WallTime lost = 1'000_wall_s % 300_wall_s;
  CHECK(seconds(job.ended - job.started) ==
        doctest::Approx(seconds(10'000_wall_s + slower + lost + 120_wall_s)).epsilon(1e-3));
  list.jobs[JobId{0}].least_gpus = 32;
  CHECK(run_with_one_failure(list, 4, losing_one(), "{}").outcomes[JobId{0}].time.incomplete == 940_wall_s);
}

TEST_CASE("a job without tasks can be given up, run into its limit, or wait for ever, and says so") {
  JobList list = gang_and_filler();
  list.jobs[JobId{0}].retries = 0;
  CHECK(run_with_one_failure(list, 4, losing_one(), "{}").outcomes[JobId{0}].state == JobState::failed);
  list = gang_and_filler();
  list.jobs[JobId{0}].limit = 4'000_wall_s;
  for (const std::string scheduler : {"volcano", "kubernetes"}) {
    CAPTURE(scheduler);
    const JobsRun late = run_with_one_failure(list, 4, losing_one(), "{}", scheduler);
    const JobOutcome& gang = late.outcomes[JobId{0}];
    CHECK(gang.state == JobState::timed_out);
    CHECK(gang.ended - gang.started == 4'000_wall_s);
    CHECK(late.outcomes[JobId{1}].state == JobState::completed);
    JobsRules never = losing_one();
    never.failures.sources[0].repair = {WallTime::max()};
    const JobList alone = list_of({Gang{0, 10'000, 4, 8}});
    const JobsRun stuck = run_with_one_failure(alone, 4, never, "{}", scheduler);
    CHECK(stuck.outcomes[JobId{0}].state == JobState::running);
    REQUIRE(stuck.stuck.size() == 1);
    CHECK(stuck.stuck[0].reason.find(scheduler == "volcano" ? "lacks 8" : "3 of 4 tasks") != std::string::npos);
    CHECK(seconds(stuck.ended) == 1'060);
  }
}

TEST_CASE("whatever fails, every GPU second is work or has its cause, and no job has more than its tasks") {
  const JobList list = random_gangs();
  const NodeList nodes = equal_nodes(6, 8);
  for (const auto& [scheduler, keys] : kSchedulers) {
    CAPTURE(scheduler);
    CAPTURE(keys);
    const JobsRun run = run_of(list, nodes, scheduler, keys, "best_fit", failing_often());
    check_accounts(run, list, nodes);
    check_causes(run, list);
    const JobsRun again = run_of(list, nodes, scheduler, keys, "best_fit", failing_often());
    for (const JobId job : list.jobs.ids()) { CHECK(again.outcomes[job].ended == run.outcomes[job].ended); }
  }
}

TEST_CASE("tasks alone leave nodes that are found to be slow, and what that costs has its cause, too") {
  const JobList list = random_gangs();
  JobsRules rules = failing_often();
  FailureSource slow{"slow", What::node, "", {15'000_wall_s, Law::exponential, 1}, {2'000_wall_s}};
  slow.speed = Ratio{1, 2};
  rules.failures.sources.push_back(slow);
  rules.failures.checks = {300_wall_s, {1, 2}, HealthChecks::Found::move};
  for (const auto& [scheduler, keys] : kSchedulers) {
    CAPTURE(scheduler);
    CAPTURE(keys);
    const JobsRun run = run_of(list, equal_nodes(6, 8), scheduler, keys, "best_fit", rules);
    check_causes(run, list);
    WallTime slowed;
    for (const JobOutcome& outcome : run.outcomes) { slowed += outcome.time.slowed; }
    CHECK(slowed > 0_wall_s);
    CHECK(run.failures[3].lost_gpu_seconds > 4 * seconds(slowed));
  }
}
