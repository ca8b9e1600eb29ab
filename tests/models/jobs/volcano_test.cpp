#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "gangs.hpp"
#include "sim/error.hpp"

using namespace athanor;

TEST_CASE("a gang begins in the session after the one that lets it in") {
  const JobsRun run = run_of(list_of({Gang{3, 10, 8}}), equal_nodes(1, 8), "volcano");
  CHECK(started(run, 0) == wall_seconds(4));
  const JobsRun slow = run_of(list_of({Gang{3, 10, 8}}), equal_nodes(1, 8), "volcano", R"({"period": "10s"})");
  CHECK(started(slow, 0) == wall_seconds(20));
}

TEST_CASE("without enqueue all jobs are let in at once") {
  const JobsRun run = run_of(list_of({Gang{3, 10, 8}}), equal_nodes(1, 8), "volcano",
                             R"({"actions": ["allocate"], "tiers": [["priority", "gang"], ["nodeorder"]]})");
  CHECK(started(run, 0) == wall_seconds(3));
}

TEST_CASE("sessions cost nothing while nothing changes") {
  const JobsRun run = run_of(list_of({Gang{0, 1'000'000, 1}, Gang{0, 1'000'000, 8}}), equal_nodes(1, 8), "volcano");
  CHECK(run.events < 10);
  CHECK(started(run, 1) == ended(run, 0));  // at a multiple of the period
}

TEST_CASE("all or nothing: two gangs that fit one after the other do not hold half of the cluster each") {
  const JobsRun run = run_of(list_of({Gang{0, 100, 10}, Gang{0, 100, 10}}), equal_nodes(2, 5), "volcano");
  CHECK(started(run, 0) == wall_seconds(1));
  CHECK(started(run, 1) == wall_seconds(102));  // let in when the first has ended
}

TEST_CASE("backfill is none: small jobs pass a gang as long as they keep coming, and sla before gang ends that") {
  // 34 of 40 GPUs are always in use, by jobs that end one by one: never are 8 free at once.
  std::vector<Gang> gangs;
  for (std::int64_t i = 0; i < 200; ++i) { gangs.push_back({i, 34, 1}); }
  gangs.insert(gangs.begin() + 50, Gang{50, 10, 8});
  const JobList list = list_of(gangs);
  const auto gang_begins = [&](const std::string& keys) {
    return started(run_of(list, equal_nodes(5, 8), "volcano", keys), 50);
  };
  CHECK(gang_begins("{}") >= wall_seconds(200));
  const std::string sla = R"({"name": "sla", "waiting_time": "20s"})";
  const std::string rest = R"("overcommit", "proportion", "nodeorder")";
  // From 70 s on it keeps what is free, and the next small jobs that end make it whole.
  const WallTime mended = gang_begins("{" + tiers(sla, R"("priority", "gang"], [)" + rest) + "}");
  CHECK(mended >= wall_seconds(70));
  CHECK(mended <= wall_seconds(73));
  // In the tier of gang, or after it, the gang's vote against comes first.
  CHECK(gang_begins("{" + tiers(R"("priority", "gang", )" + sla, rest) + "}") >= wall_seconds(200));
}

TEST_CASE("overcommit lets in what is asked for up to its factor of the cluster, less what is used") {
  // 10 GPUs: 8 are used; 12 - 8 = 4 may wait in queues. The third job of 2 is pending, and so is all that follows it.
  const JobList list = list_of({Gang{0, 100, 8}, Gang{2, 10, 4}, Gang{3, 10, 2}});
  const NodeList nodes = equal_nodes(1, 10);
  CHECK(started(run_of(list, nodes, "volcano"), 2) > wall_seconds(100));
  const std::string more = R"({"name": "overcommit", "factor": 1.4}, "nodeorder")";
  CHECK(started(run_of(list, nodes, "volcano", "{" + tiers(R"("gang")", more) + "}"), 2) == wall_seconds(4));
  CHECK(started(run_of(list, nodes, "volcano", "{" + tiers(R"("gang")", R"("nodeorder")") + "}"), 2) ==
        wall_seconds(4));
}

TEST_CASE("higher priority comes first where priority is a plugin") {
  const JobList list = list_of({Gang{0, 100, 8}, Gang{1, 10, 8}, Gang{2, 10, 8, 1, "", 5}});
  const auto third = [&](const std::string& first) {
    const std::string keys = "{" + tiers(first, R"("nodeorder")") + "}";
    return started(run_of(list, equal_nodes(1, 8), "volcano", keys), 2);
  };
  CHECK(third(R"("priority", "gang")") == wall_seconds(101));
  CHECK(third(R"("gang")") == wall_seconds(111));
}

TEST_CASE("proportion: queues get their parts by weight while both want more") {
  std::vector<Gang> gangs;
  for (int i = 0; i < 40; ++i) { gangs.push_back({0, 100, 1, 1, i % 2 == 0 ? "a" : "b"}); }
  const std::string keys = R"({"tiers": [["gang"], ["proportion", "nodeorder"]],
    "queues": [{"name": "a", "weight": 3}, {"name": "b"}]})";
  const JobList list = list_of(gangs);
  const JobsRun run = run_of(list, equal_nodes(1, 8), "volcano", keys);
  int of_a = 0;
  int of_b = 0;
  for (const JobId job : list.jobs.ids()) {
    if (run.outcomes[job].started == wall_seconds(1)) { ++(job.value % 2 == 0 ? of_a : of_b); }
  }
  CHECK(of_a == 6);
  CHECK(of_b == 2);
}

TEST_CASE("two gangs that are each larger than what their queues deserve wait for ever once both are let in") {
  const NodeList nodes = equal_nodes(4, 8);
  const JobsRun both = run_of(list_of({Gang{0, 10, 18, 1, "a"}, Gang{0, 10, 18, 1, "b"}}), nodes, "volcano");
  REQUIRE(both.stuck.size() == 2);
  CHECK(both.stuck[0].reason == "is in queue 'a', which has 0 GPUs and may not have 18 more");
  // 20 and 20 are more than 1.2 times 32: the second is let in when the first has ended.
  const JobsRun one = run_of(list_of({Gang{0, 10, 20, 1, "a"}, Gang{0, 10, 20, 1, "b"}}), nodes, "volcano");
  CHECK(one.stuck.empty());
}

TEST_CASE("capacity: a queue borrows up to its capability, whatever it deserves") {
  std::vector<Gang> gangs(8, Gang{0, 100, 1, 1, "a"});
  const JobList list = list_of(gangs);
  const auto at_once = [&](const std::string& queue) {
    const JobsRun run = run_of(list, equal_nodes(1, 8), "volcano",
                               R"({"tiers": [["gang"], ["capacity", "nodeorder"]], "queues": [)" + queue + "]}");
    int count = 0;
    for (const JobOutcome& outcome : run.outcomes) { count += outcome.started == wall_seconds(1) ? 1 : 0; }
    return count;
  };
  CHECK(at_once(R"({"name": "a", "deserved": {"gpus": 2}})") == 8);
  CHECK(at_once(R"({"name": "a", "deserved": {"gpus": 2}, "capability": {"gpus": 5}})") == 5);
  CHECK(at_once(R"({"name": "a"}, {"name": "b", "guarantee": {"gpus": 2}})") == 6);
}

TEST_CASE("drf: of two elastic jobs the one with the smaller share gets the next GPU") {
  JobList list = list_of({Gang{0, 1000, 1}, Gang{0, 1000, 1}});
  for (Job& job : list.jobs) {
    job.least_gpus = 2;
    job.most_gpus = 8;
  }
  list.jobs[JobId{1}].least_gpus = 3;
  JobsRules rules;
  rules.keep_stints = true;
  rules.horizon = wall_seconds(10);
  // 8 GPUs: 2 and 3 to begin with. The first has the smaller share and gets the next one, then they take turns.
  const JobsRun run = run_of(list, equal_nodes(1, 8), "volcano", "{}", "best_fit", rules);
  const auto gpus_of = [&](std::uint32_t job) {
    std::uint32_t count = 0;
    for (const NodeShare& share : run.outcomes[JobId{job}].where) { count += share.gpus.count(); }
    return count;
  };
  CHECK(gpus_of(0) == 4);
  CHECK(gpus_of(1) == 4);
  CHECK(run.outcomes[JobId{0}].starts == 1);
}

TEST_CASE("backfill places jobs that ask for nothing, and those alone") {
  JobList list = list_of({Gang{0, 100, 8}});
  Job job;
  job.shape = list.shape({{2, {}}});
  job.submitted = wall_seconds(5);
  job.duration = job.expected = wall_seconds(1);
  list.jobs.push_back(job);
  CHECK(started(run_of(list, equal_nodes(1, 8), "volcano"), 1) == wall_seconds(6));
  const JobsRun without = run_of(list, equal_nodes(1, 8), "volcano", R"({"actions": ["enqueue", "allocate"]})");
  REQUIRE(without.stuck.size() == 1);
  CHECK(without.stuck[0].reason == "is in queue 'default', and asks for nothing: \"backfill\" would place it");
}

TEST_CASE("binpack with GPUs fills nodes, least requested cores spread jobs, and neither says anything of GPUs alone") {
  NodeList nodes = equal_nodes(2, 8);
  for (Node& node : nodes.nodes) { node.cpu_milli = 64'000; }
  JobList list;
  for (int i = 0; i < 2; ++i) {
    Job job;
    job.shape = list.shape({{1, {.gpus = 2, .cpu_milli = 8000}}});
    job.submitted = wall_seconds(10 * i);
    job.duration = job.expected = wall_seconds(100);
    list.jobs.push_back(job);
  }
  JobsRules rules;
  rules.keep_allocations = true;
  const auto second = [&](const std::string& plugin) {
    const std::string keys = "{" + tiers(R"("gang")", plugin) + "}";
    return run_of(list, nodes, "volcano", keys, "best_fit", rules).outcomes[JobId{1}].where.front().node.value;
  };
  CHECK(second(R"({"name": "binpack", "gpus": 1})") == 0);
  CHECK(second(R"({"name": "nodeorder", "balanced": 0})") == 1);
  CHECK(second(R"({"name": "nodeorder", "least_requested": 0, "most_requested": 1, "balanced": 0})") == 0);
}

TEST_CASE("without a plugin that scores nodes the placement says where jobs run") {
  const JobList list = list_of({Gang{0, 100, 2}, Gang{5, 100, 2}});
  JobsRules rules;
  rules.keep_allocations = true;
  const auto second = [&](const std::string& placement) {
    const std::string keys = R"({"tiers": [["gang"], ["proportion"]]})";
    return run_of(list, equal_nodes(2, 8), "volcano", keys, placement, rules)
        .outcomes[JobId{1}]
        .where.front()
        .node.value;
  };
  CHECK(second("best_fit") == 0);
  CHECK(second("most_free") == 1);
}

TEST_CASE(
    "task by task: a gang of two sizes is not placed though it could be, where its first tasks take the wrong node") {
  // Volcano #1297: nodes of 4 and 8 GPUs; a task of 4 that comes first gets the node of 8, and one of 8 nothing.
  NodeList nodes;
  nodes.gpu_types = {"GPU"};
  nodes.nodes.push_back({.gpus = 8});
  nodes.nodes.push_back({.gpus = 4});
  JobList list;
  Job job;
  job.shape = list.shape({{1, {.gpus = 4}}, {1, {.gpus = 8}}});
  job.duration = job.expected = wall_seconds(10);
  list.jobs.push_back(job);
  CHECK(run_of(list, nodes, "volcano").stuck.size() == 1);
  const std::string binpack = "{" + tiers(R"("gang")", R"({"name": "binpack", "gpus": 1})") + "}";
  CHECK(run_of(list, nodes, "volcano", binpack).stuck.empty());
}

TEST_CASE("what has no effect, or none that could be meant, is refused by name") {
  struct Refused {
    std::string keys;
    std::string code;
    std::string word;
  };
  const Refused all[] = {
      {R"({"tiers": [["priority"]]})", "no-gang", "gang"},
      {R"({"tiers": [["gang", "gang"]]})", "conflict", "twice"},
      {R"({"tiers": [["gang", "sla"]]})", "missing-key", "sla"},
      {R"({"tiers": [["gang", "proportion", "capacity"]]})", "conflict", "capacity"},
      {R"({"tiers": [["gang", "conformance"]]})", "unknown-name", "conformance"},
      {R"({"tiers": [["gang", {"name": "nodeorder", "factor": 2}]]})", "unknown-key", "factor"},
      {R"({"actions": ["allocate"]})", "no-effect", "overcommit"},
      {R"({"actions": ["enqueue"]})", "no-allocate", "allocate"},
      {R"({"actions": ["enqueue", "allocate", "allocate"]})", "conflict", "twice"},
      {R"({"actions": ["enqueue", "allocate", "reclaim"], "tiers": [["gang", "nodeorder"]]})", "no-effect", "reclaim"},
      {R"({"actions": ["enqueue", "allocate", "preempt"], "tiers": [["gang"]]})", "conflict", "scores"},
      {R"({"grace_period": "1min"})", "no-effect", "grace_period"},
      {R"({"tiers": [["gang"]], "queues": [{"name": "a"}]})", "no-effect", "queues"},
      {R"({"queues": [{"name": "a"}, {"name": "a"}]})", "conflict", "two queues"},
      {R"({"queues": [{"name": "a", "deserved": {"gpus": 1}}]})", "no-effect", "deserved"},
      {R"({"queues": [{"name": "a", "reclaimable": false}]})", "no-effect", "reclaimable"},
      {R"({"tiers": [["gang", "capacity"]], "queues": [{"name": "a", "weight": 2}]})", "no-effect", "weight"},
  };
  const JobList list = list_of({Gang{}});
  for (const Refused& each : all) {
    CAPTURE(each.keys);
    try {
      scheduler_of("volcano", list, equal_nodes(1, 8), each.keys);
      FAIL("was not refused");
    } catch (const ScenarioError& error) {
      CHECK(error.problems().front().code == each.code);
      CHECK(error.problems().front().message.find(each.word) != std::string::npos);
    }
  }
}

TEST_CASE("volcano: elastic jobs grow one task at a time, by shares of jobs and of their queues") {
  const auto gpus_of_both = [](const char* keys, const char* queue_of_second) {
    JobList jobs = list_of(std::vector<SmallJob>{{0, 100, 8}, {0, 100, 8}});
    for (const JobId id : jobs.jobs.ids()) {
      jobs.jobs[id].least_gpus = 1;
      jobs.jobs[id].most_gpus = 16;
    }
    jobs.jobs[JobId{0}].queue = jobs.name("a");
    jobs.jobs[JobId{1}].queue = jobs.name(queue_of_second);
    JobsRules rules;
    rules.keep_allocations = true;
    rules.horizon = wall_seconds(60);
    const JobsRun run = run_of(jobs, equal_nodes(2, 8), "volcano", keys, "best_fit", rules);
    std::vector<std::uint32_t> gpus;
    for (const JobOutcome& outcome : run.outcomes) {
      gpus.push_back(0);
      for (const NodeShare& share : outcome.where) { gpus.back() += share.gpus.count(); }
    }
    return gpus;
  };
  CHECK(gpus_of_both("{}", "a") == std::vector<std::uint32_t>{8, 8});
  CHECK(gpus_of_both(R"({"tiers": [["priority", "gang"], ["drf", "capacity"]], "queues": [
          {"name": "a", "deserved": {"gpus": 12}}, {"name": "b", "deserved": {"gpus": 4}}]})",
                     "b") == std::vector<std::uint32_t>{12, 4});
}

TEST_CASE("volcano: an elastic job that has failed, and nobody has seen it, does not grow") {
  JobList jobs = list_of(std::vector<SmallJob>{{0, 1'800, 8}, {0, 100'000, 16}});
  jobs.jobs[JobId{1}].least_gpus = 8;
  jobs.jobs[JobId{1}].most_gpus = 16;
  JobsRules rules;
  rules.failures.sources = {{"it", FailureSource::What::job, "", {wall_seconds(1'700), RandomSpan::Law::fixed, 1}, {}}};
  rules.failures.detection = {wall_seconds(1'000)};
  rules.keep_stints = true;
  rules.horizon = wall_seconds(2'690);
  const JobsRun run = run_of(jobs, equal_nodes(2, 8), "volcano", "{}", "best_fit", rules);
  // Its GPUs are 8 from its first start to 2,700 s, though 8 others are free from 1,700 or 1,800 s on.
  std::uint32_t most = 0;
  for (const JobStint& stint : run.stints) {
    std::uint32_t gpus = 0;
    for (const NodeShare& share : stint.where) { gpus += share.gpus.count(); }
    if (stint.job == JobId{1}) { most = std::max(most, gpus); }
  }
  CHECK(most == 8);
}
