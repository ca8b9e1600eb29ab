#include <cmath>

#include <doctest/doctest.h>

#include "models/jobs/summary.hpp"
#include "small_jobs.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

using What = FailureSource::What;
using Law = RandomSpan::Law;

constexpr double kBetween = 100'000;
constexpr double kRepair = 20'000;

/// One elastic job that wants all nodes, of 8 GPUs each, which fail all the time.
JobsRun run_elastic(std::uint32_t nodes, bool shrinks, std::uint32_t least, WallTime duration, WallTime overhead = {}) {
  JobList list = list_of({{0, 1, 8 * nodes}});
  Job& job = list.jobs[JobId{0}];
  job.duration = job.expected = duration;
  job.least_gpus = least;
  job.most_gpus = 8 * nodes;
  JobsRules rules;
  rules.failures.sources = {{"node", What::node, "", {100'000_wall_s, Law::exponential, 1}, {20'000_wall_s}}};
  rules.failures.shrink = shrinks;
  rules.failures.in_place_overhead = overhead;
  rules.restart_overhead = overhead * 7;
  rules.checkpoints = {CheckpointRules::Rule::fixed, 10_wall_s, {}, {}};
  rules.keep_stints = true;
  return run_of(list, equal_nodes(nodes, 8), "fifo", "{}", "best_fit", rules);
}

}  // namespace

TEST_CASE("an elastic job works with the nodes that there are, one that does not shrink when all are there") {
  // Each node is there for a share A = M / (M + R) of the time.
  const double there = kBetween / (kBetween + kRepair);
  for (const std::uint32_t nodes : {2U, 4U}) {
    CAPTURE(nodes);
    const JobsRun shrinks = run_elastic(nodes, true, 1, 4'000_wall_d);
    CHECK(4'000 * 86'400 / seconds(shrinks.outcomes[JobId{0}].ended) == doctest::Approx(there).epsilon(0.01));
    const JobsRun waits = run_elastic(nodes, false, 1, 2'000_wall_d);
    CHECK(2'000 * 86'400 / seconds(waits.outcomes[JobId{0}].ended) ==
          doctest::Approx(std::pow(there, nodes)).epsilon(0.02));
    // It never has more nodes than it wants, nor any time on them that is not work but for what it loses.
    std::uint32_t most = 0;
    std::uint32_t fewest = UINT32_MAX;
    for (const JobStint& stint : shrinks.stints) {
      std::uint32_t gpus = 0;
      for (const NodeShare& share : stint.where) { gpus += share.gpus.count(); }
      most = std::max(most, gpus);
      fewest = std::min(fewest, gpus);
    }
    CHECK(most == 8 * nodes);
    CHECK(fewest == 8);
    CHECK(shrinks.usage.sums().gpus == doctest::Approx(shrinks.outcomes[JobId{0}].gpu_seconds));
  }
}

TEST_CASE("a job keeps its least number of GPUs, or waits") {
  const JobsRun run = run_elastic(2, true, 16, 500_wall_d);
  for (const JobStint& stint : run.stints) { CHECK(stint.where.size() == 2); }
  const double there = kBetween / (kBetween + kRepair);
  CHECK(500 * 86'400 / seconds(run.outcomes[JobId{0}].ended) == doctest::Approx(there * there).epsilon(0.05));
}

TEST_CASE("what begins again in place takes its own time, and what waits for nodes that of any other start") {
  const JobOutcome shrinks = run_elastic(2, true, 1, 500_wall_d, 10_wall_s).outcomes[JobId{0}];
  const JobOutcome waits = run_elastic(2, false, 1, 500_wall_d, 10_wall_s).outcomes[JobId{0}];
  // A start may be cut short by the next failure.
  CHECK(seconds(waits.time.starting) == doctest::Approx(70 * (waits.starts - 1)).epsilon(0.01));
  // In place but where both nodes are lost and it waits for one.
  CHECK(shrinks.time.starting < 70_wall_s * (shrinks.starts - 1) / 3);
  CHECK(seconds(shrinks.time.starting) > 9.9 * (shrinks.starts - 1));
}
