#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "gangs.hpp"
#include "read_log.hpp"
#include "sim/random.hpp"

using namespace athanor;

namespace {

const std::string kPreempt = R"("actions": ["enqueue", "allocate", "preempt"])";
const std::string kPriority = R"("tiers": [["priority", {"name": "gang", "preemptable": false}], ["nodeorder"]])";
const std::string kReclaim = R"("actions": ["enqueue", "allocate", "reclaim"])";

}  // namespace

TEST_CASE("preempt: a starving gang of higher priority takes whole gangs, the lowest and latest first") {
  const JobList list =
      list_of({Gang{0, 1000, 4, 1, "", 1}, Gang{1, 1000, 2}, Gang{2, 1000, 2}, Gang{10, 50, 2, 1, "", 9}});
  const auto run = [&](const std::string& keys) { return run_of(list, equal_nodes(1, 8), "volcano", keys); };
  CHECK(started(run("{}"), 3) >= wall_seconds(1000));
  // Overcommit does not let it in where the cluster is full.
  CHECK(started(run("{" + kPreempt + "}"), 3) >= wall_seconds(1000));
  const JobsRun preempted = run("{" + kPreempt + ", " + kPriority + R"(, "grace_period": "0s"})");
  CHECK(started(preempted, 3) == wall_seconds(12));  // let in at 10, pipelined at 11
  const std::uint32_t starts[] = {1, 1, 2, 1};
  for (const JobId job : list.jobs.ids()) { CHECK(preempted.outcomes[job].starts == starts[job.value]); }
  CHECK(started(run("{" + kPreempt + ", " + kPriority + "}"), 3) == wall_seconds(41));  // the victims have 30 s
}

TEST_CASE("what is pipelined onto nodes that are being released is not given to others") {
  // The small job could run at 12 s on GPUs that are free, but the gang waits for those and the victim's.
  const JobList list = list_of({Gang{0, 1000, 6}, Gang{10, 50, 8, 1, "", 9}, Gang{11, 5, 2}});
  const JobsRun run = run_of(list, equal_nodes(1, 8), "volcano", "{" + kPreempt + ", " + kPriority + "}");
  CHECK(started(run, 1) == wall_seconds(41));
  CHECK(started(run, 2) > wall_seconds(41));
}

TEST_CASE("preempt goes node by node: victims share a node with the task that they make room for") {
  // Two nodes of 4: four jobs of 1 GPU on the first, one of 4 on the second, all alike but in size.
  const JobList list = list_of({Gang{0, 1000, 1}, Gang{0, 1000, 1}, Gang{0, 1000, 1}, Gang{0, 1000, 1},
                                Gang{1, 1000, 1, 4}, Gang{10, 50, 1, 4, "", 9}});
  const JobsRun run = run_of(list, equal_nodes(2, 4), "volcano", "{" + kPreempt + ", " + kPriority + "}");
  std::uint32_t starts = 0;
  for (const JobId job : list.jobs.ids()) { starts += run.outcomes[job].starts - 1; }
  CHECK(starts == 4);  // the first node: all four lose theirs, though one on the second would do
}

TEST_CASE("gang with a say spares whole gangs, and a tier that spares all leaves the choice to the next") {
  const JobList list = list_of({Gang{0, 1000, 8}, Gang{10, 50, 8, 1, "", 9}});
  const auto second = [&](const std::string& first, const std::string& then) {
    const std::string keys = "{" + kPreempt + ", " + tiers(first, then) + "}";
    return started(run_of(list, equal_nodes(1, 8), "volcano", keys), 1);
  };
  CHECK(second(R"("priority", {"name": "gang", "preemptable": false})", R"("nodeorder")") < wall_seconds(100));
  CHECK(second(R"("priority", "gang")", R"("nodeorder")") >= wall_seconds(1000));
  CHECK(second(R"("gang")", R"("priority", "nodeorder")") < wall_seconds(100));
}

TEST_CASE("drf with a say lets a job take from one of a larger share, as long as that keeps the larger one") {
  const JobList list = list_of({Gang{0, 1000, 8}, Gang{10, 50, 2}});
  const std::string keys =
      "{" + kPreempt + ", " + tiers(R"({"name": "gang", "preemptable": false})", R"("drf", "nodeorder")") + "}";
  CHECK(started(run_of(list, equal_nodes(1, 8), "volcano", keys), 1) < wall_seconds(100));
  const JobList larger = list_of({Gang{0, 1000, 8}, Gang{10, 50, 5}});
  CHECK(started(run_of(larger, equal_nodes(1, 8), "volcano", keys), 1) >= wall_seconds(1000));
}

TEST_CASE("an elastic job loses tasks beyond those that it needs, and goes on with the rest") {
  JobList list = list_of({Gang{0, 1000, 8}, Gang{10, 50, 4, 1, "", 9}});
  list.jobs[JobId{0}].least_gpus = 4;
  list.jobs[JobId{0}].most_gpus = 8;
  const std::string keys = "{" + kPreempt + ", " + tiers(R"("priority", "gang")", R"("nodeorder")") + "}";
  const JobsRun run = run_of(list, equal_nodes(1, 8), "volcano", keys);
  CHECK(started(run, 1) == wall_seconds(41));
  CHECK(run.outcomes[JobId{0}].starts == 3);  // with 8, 4 and again 8
  // 8 GPUs for 10 s, 4 for 80 s, of which the other one runs 50; then 8.
  CHECK(ended(run, 0) == wall_seconds(1 + 10 + 80 + 1000 - 10 - 40));
}

TEST_CASE("manifests of Volcano: queue, priority and minAvailable reach the scheduler") {
  LogSelection selection;
  selection.queues = {"elastic"};
  const ReadLog log = read_log_file("kubernetes", "scenarios/jobs/logs/volcano_jobs.yaml", "{}", selection);
  REQUIRE(log.jobs.size() == 2);
  const std::string keys = "{" + kPreempt + ", " + kPriority + "}";
  const JobsRun run = run_of(log.jobs, equal_nodes(8, 8), "volcano", keys);
  const std::int64_t hour = 3600;
  CHECK(started(run, 1) == wall_seconds(hour + 31));
  // Five of eight nodes from 3601 s on, until the urgent job ends two hours after it has begun.
  const std::int64_t less = 30 + 2 * hour;
  CHECK(ended(run, 0) == wall_seconds(1 + 24 * hour + less) - wall_seconds(less) * 5 / 8);
  CHECK(run.outcomes[JobId{0}].starts == 3);
  const JobsRun refused = run_of(log.jobs, equal_nodes(8, 8), "volcano");
  CHECK(started(refused, 1) >= wall_seconds(24 * hour));
}

TEST_CASE("reclaim: a queue takes back what it deserves, from queues that have more, and no more") {
  std::vector<Gang> gangs(8, Gang{0, 1000, 1, 1, "a"});
  for (int i = 0; i < 8; ++i) { gangs.push_back({10, 1000, 1, 1, "b"}); }
  const JobList list = list_of(gangs);
  const auto moved = [&](const std::string& keys) {
    JobsRules rules;
    rules.horizon = wall_seconds(500);
    const JobsRun run = run_of(list, equal_nodes(1, 8), "volcano", keys, "best_fit", rules);
    int count = 0;
    for (const JobId job : list.jobs.ids()) {
      count += job.value >= 8 && run.outcomes[job].state == JobState::running ? 1 : 0;
    }
    return count;
  };
  const std::string queues = R"(, "queues": [{"name": "a"}, {"name": "b", "weight": 3}])";
  CHECK(moved(R"({"tiers": [["gang"], ["proportion", "nodeorder"]])" + queues + "}") == 0);
  CHECK(moved("{" + kReclaim + R"(, "tiers": [["gang"], ["proportion", "nodeorder"]])" + queues + "}") == 6);
  const std::string spared = R"(, "queues": [{"name": "a", "reclaimable": false}, {"name": "b"}])";
  CHECK(moved("{" + kReclaim + R"(, "tiers": [["gang"], ["proportion", "nodeorder"]])" + spared + "}") == 0);
  const std::string deserved = R"(, "queues": [{"name": "a", "deserved": {"gpus": 5}},
    {"name": "b", "deserved": {"gpus": 3}}])";
  CHECK(moved("{" + kReclaim + R"(, "tiers": [["gang"], ["capacity", "nodeorder"]])" + deserved + "}") == 3);
}

TEST_CASE("reclaim takes nothing for a gang that does not find room for all its tasks") {
  std::vector<Gang> gangs(8, Gang{0, 1000, 1, 1, "a"});
  gangs.push_back({10, 100, 5, 1, "b"});  // b deserves 4
  const JobList list = list_of(gangs);
  const JobsRun run = run_of(list, equal_nodes(1, 8), "volcano", "{" + kReclaim + "}");
  for (const JobId job : list.jobs.ids()) { CHECK(run.outcomes[job].starts == 1); }
}

TEST_CASE("whatever random jobs ask for, whoever takes nodes from whom: all are completed, and again in the same way") {
  const std::string evicts =
      R"("actions": ["enqueue", "allocate", "backfill", "preempt", "reclaim"], "grace_period": "5s")";
  const std::string sla = R"({"name": "sla", "waiting_time": "100s"})";
  const std::string queues = R"("queues": [{"name": "a", "weight": 2}, {"name": "b"}])";
  const std::string deserved = R"("queues": [{"name": "a", "deserved": {"gpus": 16}, "capability": {"gpus": 28}},
    {"name": "b", "guarantee": {"gpus": 4}}])";
  const std::string all[] = {
      "{" + evicts + ", " + queues + "}",
      "{" + evicts + ", " + queues + ", " + tiers(R"("priority", "gang")", R"("drf", "proportion", "binpack")") + "}",
      "{" + evicts + ", " + deserved + ", " + tiers(sla, R"("priority", "gang"], ["drf", "capacity", "nodeorder")") +
          "}",
      "{" + tiers(R"("gang")", R"("drf", "proportion")") + "}",
  };
  RandomStream random(3, "volcano");
  for (int round = 0; round < 40; ++round) {
    std::vector<Gang> gangs;
    for (int i = 0; i < 60; ++i) {
      gangs.push_back({static_cast<std::int64_t>(random.below(300)), 1 + static_cast<std::int64_t>(random.below(100)),
                       1 + static_cast<std::uint32_t>(random.below(5)), static_cast<std::uint16_t>(1 + random.below(2)),
                       random.below(2) == 0 ? "a" : "b", static_cast<std::int32_t>(random.below(3))});
    }
    JobList list = list_of(gangs);
    for (Job& job : list.jobs) {
      if (random.below(3) != 0) { continue; }
      const std::uint32_t of_each = list.shape(job.shape).front().each.gpus;
      job.least_gpus = of_each;
      job.most_gpus = list.shape(job.shape).front().tasks * of_each;
    }
    list.sort();
    const std::string& keys = all[round % 4];
    CAPTURE(keys);
    const JobsRun run = run_of(list, equal_nodes(4, 8), "volcano", keys);
    const JobsRun again = run_of(list, equal_nodes(4, 8), "volcano", keys);
    for (const JobId job : list.jobs.ids()) {
      CHECK(run.outcomes[job].state == JobState::completed);
      CHECK(run.outcomes[job].ended == again.outcomes[job].ended);
      const double work = seconds(list.jobs[job].duration) * static_cast<double>(gpu_milli_of(list.shape(job))) / 1000;
      CHECK(run.outcomes[job].gpu_seconds == doctest::Approx(work).epsilon(1e-3));
    }
  }
}
