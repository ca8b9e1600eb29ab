#include "models/jobs/failures/slow_nodes.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "models/jobs/failures/node_watch.hpp"
#include "models/jobs/summary.hpp"
#include "small_jobs.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

using What = FailureSource::What;
using Law = RandomSpan::Law;
using Found = HealthChecks::Found;

FailureSource slow(What what, WallTime between, Ratio speed, std::optional<RandomSpan> lasts = {},
                   Law law = Law::exponential) {
  FailureSource source{"slow", what, "", {between, law, 1}, {}};
  source.speed = speed;
  source.lasts = lasts;
  return source;
}

JobsRun run_one(std::uint32_t nodes, WallTime duration, const JobsRules& rules, std::uint32_t others = 0) {
  JobList list = list_of({{0, 1, 8 * nodes}});
  list.jobs[JobId{0}].duration = list.jobs[JobId{0}].expected = duration;
  return run_of(list, equal_nodes(nodes + others, 8), "fifo", "{}", "best_fit", rules);
}

/// GPU seconds that jobs had, less those in which they worked at full speed or wrote checkpoints.
double lost_of(const JobsRun& run) {
  double lost = 0;
  for (const JobOutcome& outcome : run.outcomes) {
    const double share = seconds(outcome.time.useful + outcome.time.writing) / seconds(outcome.ran());
    lost += outcome.gpu_seconds * (1 - share);
  }
  return lost;
}

}  // namespace

TEST_CASE("a job works at the speed of its slowest node, for as long as one of them is slow") {
  // Each node is slow for a share p = L / (M + L) of the time, and none of N for (1 - p)^N of it.
  constexpr double kMean = 100'000;
  constexpr double kLasts = 20'000;
  for (const std::uint32_t nodes : {1U, 4U}) {
    CAPTURE(nodes);
    JobsRules rules;
    rules.failures.sources = {slow(What::node, wall_seconds(100'000), {7, 10}, RandomSpan{wall_seconds(20'000)})};
    const JobsRun run = run_one(nodes, 2'000_wall_d, rules);
    const double none = std::pow(kMean / (kMean + kLasts), nodes);
    const double speed = none + 0.7 * (1 - none);
    CHECK(2'000 * 86'400 / seconds(run.outcomes[JobId{0}].ended) == doctest::Approx(speed).epsilon(0.01));
    const TimeOnNodes& time = run.outcomes[JobId{0}].time;
    CHECK(time.all() == run.outcomes[JobId{0}].ended);
    CHECK(seconds(time.useful) == doctest::Approx(2'000 * 86'400));
    CHECK(run.failures[0].interruptions == 0);
    CHECK(run.failures[0].lost_gpu_seconds == doctest::Approx(seconds(time.slowed) * 8 * nodes));
  }
}

TEST_CASE("what nobody finds and nothing ends stays slow for ever, and checks find it after I (1 / c - 1 / 2)") {
  JobsRules rules;
  rules.failures.sources = {slow(What::node, wall_seconds(1'000), {1, 2}, {}, Law::fixed)};
  CHECK(run_one(1, wall_seconds(3'000), rules).outcomes[JobId{0}].ended == wall_seconds(1'000 + 2 * 2'000));
  for (const Ratio coverage : {Ratio{1, 1}, Ratio{1, 4}}) {
    CAPTURE(to_double(coverage));
    rules.failures.sources = {slow(What::node, wall_seconds(50'000), {1, 2})};
    rules.failures.checks = {wall_seconds(300), coverage, Found::move};
    const JobsRun run = run_one(1, 2'000_wall_d, rules, 1);
    const JobOutcome& job = run.outcomes[JobId{0}];
    REQUIRE(job.starts > 3'000);
    // Half of the time from an episode's begin until a check finds it is lost; the job moves to the other node.
    CHECK(seconds(job.time.slowed) / (job.starts - 1) ==
          doctest::Approx(0.5 * 300 * (1 / to_double(coverage) - 0.5)).epsilon(0.05));
  }
}

TEST_CASE("a slow node that is found gets no other jobs, and is repaired when those that it has have ended") {
  // Both nodes are slow from 100 s on, and found at 120 s. One is empty and comes back after 50 s.
  const JobList jobs = list_of({{0, 150, 8}, {130, 10, 8}});
  JobsRules rules;
  rules.failures.sources = {slow(What::node, wall_seconds(100), {1, 2}, {}, Law::fixed)};
  rules.failures.sources[0].repair = {wall_seconds(50)};
  rules.failures.checks = {wall_seconds(60), {1, 1}, Found::drain};
  const JobsRun drained = run_of(jobs, equal_nodes(2, 8), "fifo", "{}", "best_fit", rules);
  CHECK(drained.outcomes[JobId{0}].ended == wall_seconds(200));
  CHECK(drained.outcomes[JobId{0}].starts == 1);
  CHECK(drained.outcomes[JobId{1}].started == wall_seconds(170));
  // Moved, the first job goes to the other node, which is found at the same instant, and waits for it then. It goes on
  // from where it was.
  rules.failures.checks->found = Found::move;
  const JobsRun moved = run_of(jobs, equal_nodes(2, 8), "fifo", "{}", "best_fit", rules);
  CHECK(moved.outcomes[JobId{0}].starts == 3);
  CHECK(moved.outcomes[JobId{0}].ended == wall_seconds(170 + 40));
  CHECK(moved.outcomes[JobId{0}].time.slowed == wall_seconds(10));
  CHECK(moved.outcomes[JobId{0}].time.lost == WallTime{});
  // If jobs that lose their nodes begin anew, so does this one.
  rules.preempted = Preempted::begins_anew;
  rules.horizon = wall_seconds(200);
  const JobsRun anew = run_of(jobs, equal_nodes(2, 8), "fifo", "{}", "best_fit", rules);
  CHECK(anew.outcomes[JobId{0}].time.lost == wall_seconds(110));
}

TEST_CASE("a failure is detected by a check or by the job, whichever is first") {
  // E min(D, u) with u uniform in (0, I]: I / 2 for D >= I, else D - D^2 / 2 I. Of software of jobs it is D.
  constexpr double kInterval = 300;
  for (const double timeout : {600.0, 100.0}) {
    CAPTURE(timeout);
    JobsRules rules;
    rules.failures.sources = {{"node", What::node, "", {wall_seconds(20'000), Law::exponential, 1}, {}}};
    rules.failures.detection = {WallTime{std::llround(timeout * 1e6)}};
    rules.failures.checks = {wall_seconds(300), {1, 1}, Found::drain};
    rules.checkpoints = {CheckpointRules::Rule::fixed, wall_seconds(1'000), {}, {}};
    const JobsRun run = run_one(1, 1'000_wall_d, rules);
    const double until = std::min(timeout, kInterval);
    const double expected = until - until * until / (2 * kInterval);
    const JobOutcome& job = run.outcomes[JobId{0}];
    CHECK(seconds(job.time.detecting) / job.interruptions == doctest::Approx(expected).epsilon(0.05));
    rules.failures.sources[0].what = What::job;
    const JobOutcome software = run_one(1, 100_wall_d, rules).outcomes[JobId{0}];
    CHECK(software.time.detecting == rules.failures.detection.mean * software.interruptions);
  }
}

TEST_CASE("of NICs that die one by one a node keeps the rest of its communication") {
  FailureRules rules;
  rules.sources = {{"link", What::nic, "", {1_wall_d, Law::exponential, 1}, {}}, slow(What::gpu, 1_wall_d, {9, 10})};
  NodeList nodes = equal_nodes(2, 8);
  for (Node& node : nodes.nodes) { node.nics = 8; }
  const Allocation both = {{NodeId{0}, 0, 1, {}}, {NodeId{1}, 0, 1, {}}};
  for (const double share : {1.0, 0.25}) {
    rules.sources[0].communication = Ratio{std::llround(share * 4), 4};
    SlowNodes slow_nodes(rules, nodes);
    slow_nodes.begin({1, 99, {NodeId{0}}, {}}, 0, 0);
    for (std::uint32_t dead = 0; dead <= 8; ++dead) {
      const double of_nics = dead == 8 ? 0 : 1 / (1 - share + share * 8 / (8 - dead));
      CHECK(slow_nodes.slowest(both).speed == Speed::of(std::min(0.9, of_nics)));
      slow_nodes.begin({0, dead, {NodeId{1}}, {}}, 0, 0);
    }
    CHECK(slow_nodes.slowest({both.front()}).source == 1);
    CHECK(slow_nodes.end_on(NodeId{1}).size() == 9);
    slow_nodes.end(99);
    CHECK(slow_nodes.slowest(both).speed == Speed{});
  }
  // Each of them flaps by itself: eight times the share of the time of one, which is L / (M + L).
  rules.sources.resize(1);
  rules.sources[0].communication = Ratio{1, 1};
  JobsRules all;
  all.failures = rules;
  all.failures.sources[0].lasts = RandomSpan{864_wall_s};
  JobList list = list_of({{0, 1, 8}});
  list.jobs[JobId{0}].duration = 1'000_wall_d;
  nodes.nodes = IdVector<NodeId, Node>(1);
  nodes.nodes[NodeId{0}] = {.gpus = 8, .nics = 8};
  const JobsRun run = run_of(list, nodes, "fifo", "{}", "best_fit", all);
  CHECK(static_cast<double>(run.failures[0].failures) ==
        doctest::Approx(8 * seconds(run.ended) / (1.01 * 86'400)).epsilon(0.04));
}

TEST_CASE("a rack takes all of its nodes with one event, and a job on two racks fails twice as often") {
  FailureRules rules;
  rules.sources = {{"power", What::rack, "", {100_wall_d, Law::exponential, 1}, {1_wall_h}, 4}};
  const NodeList nodes = equal_nodes(10, 8);
  FailureProcess process(rules, nodes, 5);
  std::vector<std::size_t> sizes(3);
  for (int i = 0; i < 100; ++i) {
    const FailureProcess::Failure failure = process.take();
    const std::uint32_t rack = failure.nodes.front().value / 4;
    sizes[rack] = failure.nodes.size();
    for (const NodeId node : failure.nodes) { CHECK(node.value / 4 == rack); }
  }
  CHECK(sizes == std::vector<std::size_t>{4, 4, 2});
  CHECK(process.mttf({{NodeId{0}, 0, 1, {}}, {NodeId{3}, 0, 1, {}}}) == 100_wall_d);
  CHECK(process.mttf({{NodeId{3}, 0, 1, {}}, {NodeId{4}, 0, 1, {}}}) == 50_wall_d);
}

TEST_CASE("nodes that fail too often in a window are taken out, for good or until they are as good as new") {
  FailureRules rules;
  rules.cordon = {3, wall_seconds(100), {}};
  NodeWatch watch(rules, equal_nodes(2, 8), 1);
  for (const std::int64_t when : {0, 60, 120}) { CHECK_FALSE(watch.fails_too_often(NodeId{0}, wall_seconds(when))); }
  CHECK_FALSE(watch.fails_too_often(NodeId{1}, wall_seconds(150)));
  CHECK(watch.fails_too_often(NodeId{0}, wall_seconds(160)));
  CHECK(watch.back(wall_seconds(160)) == WallTime::max());
  rules.cordon->repair = RandomSpan{wall_seconds(5)};
  CHECK(watch.back(wall_seconds(160)) == wall_seconds(165));

  // A quarter of 40 nodes fails every day instead of every hundred: three failures in a month mark them.
  JobsRules jobs;
  jobs.failures.sources = {{"node", What::node, "", {100_wall_d, Law::exponential, 1}, {1_wall_h}}};
  jobs.failures.lemon_share = 0.25;
  jobs.failures.lemon_times = 100;
  jobs.checkpoints = {CheckpointRules::Rule::fixed, wall_seconds(600), {}, {}};
  const auto failures_of = [&](std::optional<Cordon> cordon) {
    jobs.failures.cordon = cordon;
    return run_one(1, 200_wall_d, jobs, 39);
  };
  const JobsRun never = failures_of({});
  const JobsRun for_good = failures_of(Cordon{3, 30_wall_d, {}});
  const JobsRun repaired = failures_of(Cordon{3, 30_wall_d, RandomSpan{3_wall_d}});
  CHECK(never.cordoned == 0);
  CHECK(never.failures[0].failures > 1'000);
  for (const JobsRun* run : {&for_good, &repaired}) {
    CHECK(run->cordoned >= 5);
    CHECK(run->cordoned <= 20);
    CHECK(run->failures[0].failures < 200);
  }
}

TEST_CASE("a check takes a node that is well for one that is not every I / p, and it is repaired for that") {
  JobsRules rules;
  rules.failures.checks = {wall_seconds(300), {1, 1}, Found::drain};
  rules.failures.checks->false_alarms = FalseAlarms{{1, 1'000}, {wall_seconds(50'000)}};
  rules.keep_stints = true;
  const JobsRun run = run_one(1, 2'000_wall_d, rules, 9);
  // The job runs to its end where it is, and its node is repaired after that. Nine others are up for 300,000 s and out
  // for 50,000 s on average.
  CHECK(run.outcomes[JobId{0}].starts == 1);
  CHECK(run.outcomes[JobId{0}].ended == 2'000_wall_d);
  REQUIRE(run.failures.size() == 1);
  const FailureAccount& account = run.failures.back();
  CHECK(account.name == kFalseAlarms);
  CHECK(account.lost_gpu_seconds == 0);
  CHECK(account.interruptions == 0);
  CHECK(static_cast<double>(account.failures) == doctest::Approx(9 * 2'000 * 86'400 / 350'000.0).epsilon(0.04));
  for (const Outage& outage : run.outages) {
    CHECK(outage.until - outage.since == wall_seconds(50'000));
    CHECK(outage.since % wall_seconds(300) == WallTime{});
  }
}

TEST_CASE("jobs that move for a false alarm begin again for nothing, at the cost of false alarms") {
  JobsRules rules;
  rules.failures.checks = {wall_seconds(300), {1, 1}, Found::move};
  rules.failures.checks->false_alarms = FalseAlarms{{1, 1'000}, {}};
  rules.restart_overhead = wall_seconds(200);
  const JobsRun run = run_one(2, 2'000_wall_d, rules, 1);
  const JobOutcome& job = run.outcomes[JobId{0}];
  // Each of two nodes every 300,000 s.
  CHECK(job.starts - 1.0 == doctest::Approx(2 * seconds(job.ended) / 300'000).epsilon(0.06));
  CHECK(job.ended == 2'000_wall_d + wall_seconds(200) * (job.starts - 1));
  CHECK(job.interruptions == 0);
  CHECK(run.failures.back().lost_gpu_seconds == doctest::Approx(200.0 * 16 * (job.starts - 1)));
  // For who counts findings they are as good as true ones.
  rules.failures.cordon = Cordon{2, 100_wall_d, RandomSpan{1_wall_h}};
  CHECK(run_one(2, 2'000_wall_d, rules, 1).cordoned > 100);
}

TEST_CASE("jobs that nothing can start do not wait for false alarms") {
  JobsRules rules;
  rules.failures.checks = {wall_seconds(300), {1, 1}, Found::drain};
  rules.failures.checks->false_alarms = FalseAlarms{{1, 2}, {}};
  const JobsRun run = run_of(list_of({{0, 100, 8}, {0, 100, 16}}), equal_nodes(1, 8), "fifo", "{}", "best_fit", rules);
  CHECK(run.outcomes[JobId{0}].ended == wall_seconds(100));
  CHECK(run.stuck.size() == 1);
}

TEST_CASE("every GPU second that is not work at full speed has its cause") {
  JobsRules rules;
  rules.failures.sources = {
      {"node", What::node, "", {wall_seconds(200'000), Law::exponential, 1}, {1_wall_h}},
      {"software", What::job, "", {wall_seconds(50'000), Law::exponential, 1}, {}},
      slow(What::node, wall_seconds(60'000), {3, 5}, RandomSpan{wall_seconds(7'000), Law::exponential}),
      slow(What::gpu, wall_seconds(900'000), {4, 5})};
  rules.failures.sources[3].repair = {wall_seconds(1'000)};
  rules.failures.sources[2].coverage = Ratio{0, 1};
  rules.failures.checks = {wall_seconds(300), {1, 2}, Found::move};
  rules.failures.checks->false_alarms = FalseAlarms{{1, 5'000}, {wall_seconds(500)}};
  rules.failures.detection = {wall_seconds(900)};
  rules.failures.spares = 2;
  rules.restart_overhead = wall_seconds(200);
  rules.checkpoints = {CheckpointRules::Rule::fixed, wall_seconds(1'500), wall_seconds(20), wall_seconds(100)};
  const JobsRun run = run_one(4, 100_wall_d, rules, 2);
  double lost = 0;
  for (const FailureAccount& account : run.failures) {
    CHECK(account.lost_gpu_seconds > 0);
    lost += account.lost_gpu_seconds;
  }
  CHECK(run.outcomes[JobId{0}].state == JobState::completed);
  CHECK(lost == doctest::Approx(lost_of(run)).epsilon(1e-9));
}

TEST_CASE("empirical spans are drawn from their times") {
  const RandomSpan span{wall_seconds(4), Law::empirical, 1, {wall_seconds(1), wall_seconds(7)}};
  RandomStream stream(1, "spans");
  std::uint64_t long_ones = 0;
  for (int i = 0; i < 10'000; ++i) {
    const WallTime drawn = span.draw(stream);
    REQUIRE((drawn == wall_seconds(1) || drawn == wall_seconds(7)));
    long_ones += drawn == wall_seconds(7) ? 1 : 0;
  }
  CHECK(static_cast<double>(long_ones) == doctest::Approx(5'000).epsilon(0.04));
}
