#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "models/jobs/peer_copies.hpp"
#include "models/jobs/summary.hpp"
#include "small_jobs.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

using What = FailureSource::What;
using Law = RandomSpan::Law;

Allocation nodes_of_job(std::uint32_t nodes) {
  Allocation where;
  for (std::uint32_t node = 0; node < nodes; ++node) { where.push_back({NodeId{node}, 0, 1, {}}); }
  return where;
}

/// Pairs of nodes that may fail together without losing a part.
std::uint32_t pairs_that_survive(const MemoryCheckpoints& memory, std::uint32_t nodes) {
  const Allocation where = nodes_of_job(nodes);
  std::uint32_t survive = 0;
  for (std::uint32_t a = 0; a < nodes; ++a) {
    for (std::uint32_t b = a + 1; b < nodes; ++b) {
      survive += copies_survive(memory, where, {NodeId{a}, NodeId{b}}) ? 1 : 0;
    }
  }
  return survive;
}

constexpr double kWritten = 10'800;
constexpr double kInMemory = 600;

/// Checkpoints every three hours to storage, every ten minutes in memory.
JobsRules two_levels(std::uint32_t copies) {
  JobsRules rules;
  rules.checkpoints = {CheckpointRules::Rule::fixed, wall_seconds(10'800), wall_seconds(60), {}};
  rules.checkpoints.memory = {wall_seconds(600), {}, {}, wall_seconds(7), copies, 0};
  rules.checkpoints.restore = wall_seconds(300);
  rules.restart_overhead = wall_seconds(100);
  return rules;
}

JobsRun run_one(std::uint32_t nodes, WallTime duration, const JobsRules& rules, std::uint32_t others = 0) {
  JobList list = list_of({{0, 1, 8 * nodes}});
  list.jobs[JobId{0}].duration = list.jobs[JobId{0}].expected = duration;
  return run_of(list, equal_nodes(nodes + others, 8), "fifo", "{}", "best_fit", rules);
}

}  // namespace

TEST_CASE("copies are left unless all nodes that have one fail together") {
  for (const std::uint32_t nodes : {2U, 4U, 8U, 16U}) {
    CAPTURE(nodes);
    const Allocation where = nodes_of_job(nodes);
    const std::uint32_t pairs = nodes * (nodes - 1) / 2;
    // In groups of two a pair is lost if it is one of them: n / 2 pairs. In a ring, if it is next to each other.
    CHECK(pairs_that_survive({{}, {}, {}, {}, 2, 0}, nodes) == pairs - nodes / 2);
    CHECK(pairs_that_survive({{}, {}, {}, {}, 2, nodes}, nodes) == pairs - (nodes == 2 ? 1 : nodes));
    CHECK(pairs_that_survive({{}, {}, {}, {}, 3, 0}, nodes) == (nodes == 2 ? 0 : pairs));
    for (std::uint32_t node = 0; node < nodes; ++node) {
      CHECK(copies_survive({{}, {}, {}, {}, 2, 0}, where, {NodeId{node}}));
      CHECK_FALSE(copies_survive({{}, {}, {}, {}, 1, 0}, where, {NodeId{node}}));
    }
    CHECK(copies_survive({{}, {}, {}, {}, 1, 0}, where, {}));
  }
  // The fifth node has no other for a group of its own: it joins the two before it.
  CHECK(pairs_that_survive({{}, {}, {}, {}, 2, 0}, 5) == 10 - 1 - 3);
  // Shares of one node are one node.
  Allocation twice = nodes_of_job(4);
  twice.insert(twice.begin(), twice.front());
  CHECK(copies_survive({{}, {}, {}, {}, 2, 0}, twice, {NodeId{1}, NodeId{2}}));
}

TEST_CASE("software and single nodes lose half an interval of memory, racks half an interval of storage") {
  JobsRules rules = two_levels(2);
  rules.failures.sources = {{"software", What::job, "", {100'000_wall_s, Law::exponential, 1}, {}},
                            {"node", What::node, "", {400'000_wall_s, Law::exponential, 1}, {}},
                            {"rack", What::rack, "", {200'000_wall_s, Law::exponential, 1}, {}, 4}};
  const JobsRun run = run_one(4, 4'000_wall_d, rules);
  double starting = 0;
  for (const FailureAccount& account : run.failures) {
    CAPTURE(account.name);
    const bool together = account.name == "rack";
    REQUIRE(account.interruptions > 1'000);
    CHECK(account.from_memory == (together ? 0 : account.interruptions));
    const double restart = together ? 100 + 300 : 100 + 7;
    starting += restart * static_cast<double>(account.interruptions);
    const double lost = account.lost_gpu_seconds / (8 * 4) / static_cast<double>(account.interruptions) - restart;
    CHECK(lost == doctest::Approx(together ? kWritten / 2 : kInMemory / 2).epsilon(0.05));
  }
  CHECK(seconds(run.outcomes[JobId{0}].time.starting) == doctest::Approx(starting).epsilon(0.01));
}

TEST_CASE("copies are lost with nodes that are given back, and with a second one before the job has begun again") {
  JobsRules rules = two_levels(2);
  rules.failures.sources = {{"node", What::node, "", {200'000_wall_s, Law::exponential, 1}, {1_wall_h}}};
  // Nobody stands by: the job gives its nodes back, and begins again from storage.
  CHECK(run_one(2, 100_wall_d, rules).failures[0].from_memory == 0);
  rules.failures.spares = 2;
  const JobsRun replaced = run_one(2, 400_wall_d, rules, 2);
  CHECK(replaced.failures[0].from_memory > 0.95 * static_cast<double>(replaced.failures[0].interruptions));
  // With d until anybody sees it the other one has failed, too, with 1 - e^(-d / M).
  rules.failures.detection = {50'000_wall_s};
  rules.failures.sources[0].repair = {};
  const JobsRun late = run_one(2, 4'000_wall_d, rules, 2);
  const double share =
      static_cast<double>(late.failures[0].from_memory) / static_cast<double>(late.failures[0].interruptions);
  CHECK(share == doctest::Approx(std::exp(-50'000 / 200'000.0)).epsilon(0.05));
}

TEST_CASE("the effective time with two levels is 1 - the rate of failures times what each costs, over 1 + w / D") {
  constexpr double kRate = 4 / 400'000.0;
  JobsRules rules = two_levels(2);
  rules.failures.sources = {{"node", What::node, "", {400'000_wall_s, Law::exponential, 1}, {}}};
  const JobsRun run = run_one(4, 4'000_wall_d, rules);
  const double expected = (1 - kRate * (107 + kInMemory / 2)) / (1 + 60 / kWritten);
  CHECK(seconds(run.outcomes[JobId{0}].time.useful) / seconds(run.outcomes[JobId{0}].ran()) ==
        doctest::Approx(expected).epsilon(0.0005));
}
