#include <algorithm>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "models/jobs/failures/failure_process.hpp"
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

namespace {

/// Software, nodes and racks of four that fail, and a job on nodes 2 to 9: parts of three racks.
FailureRules three_sources() {
  FailureRules rules;
  rules.sources = {{"software", What::job, "", {100'000_wall_s, Law::exponential, 1}, {}},
                   {"node", What::node, "", {400'000_wall_s, Law::exponential, 1}, {}},
                   {"rack", What::rack, "", {200'000_wall_s, Law::exponential, 1}, {}, 4}};
  return rules;
}

}  // namespace

TEST_CASE("of failures those count for storage that leave no copy of some part") {
  FailureRules rules = three_sources();
  const NodeList nodes = equal_nodes(16, 8);
  Allocation where;
  for (std::uint32_t node = 2; node < 10; ++node) { where.push_back({NodeId{node}, 0, 1, {}}); }
  const auto rate = [&](const MemoryCheckpoints& memory) {
    return 200'000 / seconds(FailureProcess(rules, nodes, 1).mttf(where, &memory));
  };
  // In units of the rate of a rack. Pairs, and neighbours in a ring, are below one rack.
  CHECK(rate({{}, {}, {}, {}, 2, 0}) == doctest::Approx(3));
  CHECK(rate({{}, {}, {}, {}, 2, 8}) == doctest::Approx(3));
  // Of three in a row in a ring the rack in the middle takes all; two of the job's nodes are below each of the others.
  CHECK(rate({{}, {}, {}, {}, 3, 8}) == doctest::Approx(1));
  // Without copies on others each node counts, and software does not.
  CHECK(rate({{}, {}, {}, {}, 1, 0}) == doctest::Approx(8 * 0.5 + 3));
  CHECK(200'000 / seconds(FailureProcess(rules, nodes, 1).mttf(where)) == doctest::Approx(2 + 8 * 0.5 + 3));
  // A job that gives its nodes back goes on from storage, whatever has failed.
  rules.restart = Restart::requeue;
  CHECK(rate({{}, {}, {}, {}, 2, 0}) == doctest::Approx(2 + 8 * 0.5 + 3));
  rules.sources.resize(2);
  rules.restart = Restart::in_place;
  const MemoryCheckpoints pairs{{}, {}, {}, {}, 2, 0};
  CHECK(FailureProcess(rules, nodes, 1).mttf(where, &pairs) == WallTime::max());
}

TEST_CASE("what counts for storage is what a naive count of all that fails together says") {
  RandomStream random(1, "groups");
  for (int trial = 0; trial < 200; ++trial) {
    FailureRules rules = three_sources();
    rules.sources[2].nodes = 2 + static_cast<std::uint32_t>(random.below(6));
    const NodeList nodes = equal_nodes(24, 8);
    Allocation where;
    for (std::uint32_t node = 0; node < 24; ++node) {
      if (random.below(3) > 0) { where.push_back({NodeId{node}, 0, 1, {}}); }
    }
    MemoryCheckpoints memory{{}, {}, {}, {}, 1 + static_cast<std::uint32_t>(random.below(4)), 0};
    memory.group = memory.copies + static_cast<std::uint32_t>(random.below(5));
    double rate = 0;
    for (std::uint32_t first = 0; first < 24; ++first) {
      const bool has =
          std::any_of(where.begin(), where.end(), [&](const NodeShare& s) { return s.node.value == first; });
      if (has && !copies_survive(memory, where, {NodeId{first}})) { rate += 1 / 400'000.0; }
      if (first % rules.sources[2].nodes != 0) { continue; }
      std::vector<NodeId> rack;
      for (std::uint32_t node = first; node < std::min(24U, first + rules.sources[2].nodes); ++node) {
        rack.push_back(NodeId{node});
      }
      if (!copies_survive(memory, where, rack)) { rate += 1 / 200'000.0; }
    }
    const WallTime mttf = FailureProcess(rules, nodes, 1).mttf(where, &memory);
    CHECK((mttf == WallTime::max() ? 0 : 1 / seconds(mttf)) == doctest::Approx(rate));
  }
}

TEST_CASE("a rule writes to storage as often as suits what memory does not make up for, and gains by it") {
  JobsRules rules = two_levels(2);
  rules.checkpoints.memory->interval = wall_seconds(60);
  rules.failures = three_sources();
  rules.failures.sources[0].between.mean = 10'000_wall_s;
  const auto with = [&](CheckpointRules::Rule rule, WallTime interval) {
    rules.checkpoints.rule = rule;
    rules.checkpoints.interval = interval;
    return run_one(4, 1'000_wall_d, rules).outcomes[JobId{0}];
  };
  // One rack: T of a mean time of 200,000 s, whatever else fails.
  const WallTime best = optimal_interval(rules.checkpoints.write, 200'000_wall_s);
  const JobOutcome by_rule = with(CheckpointRules::Rule::optimal, {});
  CHECK(seconds(by_rule.time.writing) / seconds(by_rule.time.useful) ==
        doctest::Approx(60 / seconds(best)).epsilon(0.02));
  const WallTime of_all = optimal_interval(rules.checkpoints.write, WallTime{std::llround(1e6 / (1e-4 + 1e-5 + 5e-6))});
  CHECK(seconds(by_rule.ended) < 0.98 * seconds(with(CheckpointRules::Rule::fixed, of_all).ended));
  CHECK(by_rule.from_memory > 0.9 * by_rule.interruptions);
}
