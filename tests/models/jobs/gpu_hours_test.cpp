#include "models/jobs/gpu_hours.hpp"

#include <random>

#include <doctest/doctest.h>

#include "small_jobs.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

JobsRules failing() {
  JobsRules rules;
  rules.failures.sources = {{"node",
                             FailureSource::What::node,
                             "",
                             {wall_seconds(1'500), RandomSpan::Law::exponential, 1},
                             {wall_seconds(400)}}};
  rules.failures.detection = {wall_seconds(20)};
  rules.restart_overhead = wall_seconds(5);
  rules.checkpoints = {CheckpointRules::Rule::fixed, wall_seconds(10), wall_seconds(1), {}};
  rules.keep_stints = true;
  return rules;
}

double sum(const GpuHours& hours) {
  return hours.useful + hours.writing + hours.lost + hours.detecting + hours.starting + hours.down + hours.idle;
}

}  // namespace

TEST_CASE("GPU hours are those of all GPUs, and nodes are used for as long as jobs had their GPUs") {
  std::mt19937_64 random(3);
  std::vector<SmallJob> list;
  for (int i = 0; i < 150; ++i) {
    list.push_back(
        {i * 15, 1 + static_cast<std::int64_t>(random() % 200), 1 + static_cast<std::uint32_t>(random() % 12)});
  }
  const JobList jobs = list_of(list);
  const NodeList nodes = equal_nodes(4, 8);
  const JobsRun run = run_of(jobs, nodes, "fifo", "{}", "best_fit", failing());
  REQUIRE(run.outages.size() > 3);
  const GpuHours hours = gpu_hours_of(run, jobs, nodes);
  CHECK(sum(hours) == doctest::Approx(32 * seconds(run.ended) / 3600));
  CHECK(hours.writing > 0);
  CHECK(hours.lost > 0);
  CHECK(hours.detecting > 0);
  CHECK(hours.starting > 0);
  CHECK(hours.down > 0);
  double had = 0;
  for (const JobOutcome& outcome : run.outcomes) { had += outcome.gpu_seconds / 3600; }
  CHECK(sum(hours) - hours.down - hours.idle == doctest::Approx(had));
  double used = 0;
  for (const NodeHours& node : hours_by_node(run, jobs, nodes)) {
    used += node.used;
    CHECK(node.used + node.down + node.idle == doctest::Approx(8 * seconds(run.ended) / 3600));
  }
  CHECK(used == doctest::Approx(had));
}

TEST_CASE("a node that is down while nothing runs is down until its repair, once, though it fails again meanwhile") {
  const JobList jobs = list_of({{0, 3'600, 8}});
  const NodeList nodes = equal_nodes(2, 8);
  JobsRules rules;
  rules.keep_stints = true;
  JobsRun run = run_of(jobs, nodes, "fifo", "{}", "best_fit", rules);
  const NodeId idle{1 - run.stints.front().where.front().node.value};
  run.outages = {{idle, wall_seconds(600), wall_seconds(1'800), 0},
                 {idle, wall_seconds(1'200), wall_seconds(2'400), 0},
                 {idle, wall_seconds(3'000), wall_seconds(9'999), 0}};
  const NodeHours hours = hours_by_node(run, jobs, nodes)[idle];
  CHECK(hours.down == doctest::Approx(8 * (1'800.0 + 600.0) / 3'600));
  CHECK(hours.idle == doctest::Approx(8 * 1'200.0 / 3'600));
  const NodeHours busy = hours_by_node(run, jobs, nodes)[run.stints.front().where.front().node];
  CHECK(busy.used == doctest::Approx(8));
  CHECK(busy.idle == 0);
}
