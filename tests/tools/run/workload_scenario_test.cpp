#include <cmath>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "sim/file.hpp"
#include "tests/json_text.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// Four hosts on one switch, with this workload.
std::string on_star(const std::string& workload, const std::string& more = "") {
  return R"({"cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"rate": "10GB/s", "latency": "500ns"}}},
             )" +
         more + R"("workload": )" + workload + "}";
}

/// One job of an hour, and what else the workload says.
std::string an_hour_and(const std::string& more) {
  return on_star(R"({"jobs": [{"gpus": 1, "duration": "1h"}], )" + more + "}");
}

/// One job of an hour, a source of failures, and what else is said of them.
std::string failing(const std::string& source, const std::string& more = "") {
  return an_hour_and(R"("failures": {"sources": [{)" + source + "}]" + more + "}");
}

/// One job of an hour that saves its work.
std::string saving(const std::string& checkpoints) { return an_hour_and(R"("checkpoints": {)" + checkpoints + "}"); }

/// One job on two nodes, and a training that it may do.
std::string training(const std::string& job, const std::string& more = "") {
  return R"({"cluster": {"node": "DGX-A100", "nodes": 2, "fabric": {"kind": "star", "link": {"rate": "200Gb/s", "latency": "500ns"}}},
             "workload": {"trainings": [{"name": "a", "model": "MPT-1B", "global_batch": 32, "sequence": 2048,
                                         "parallel": {"tensor": 2}}],
                          "jobs": [{)" +
         job + "}]" + more + "}}";
}

bool says(const nlohmann::json& problem, const std::string& text) {
  return text_of(problem).find(text) != std::string::npos;
}

struct Wrong {
  std::string scenario;
  const char* code;
  const char* says;
};

void check_refused(const Folder& folder, const std::vector<Wrong>& wrong) {
  for (const Wrong& each : wrong) {
    CAPTURE(each.scenario);
    const nlohmann::json problem = problem_of(folder, each.scenario);
    CAPTURE(problem);
    CHECK(problem["code"] == each.code);
    CHECK(says(problem, each.says));
  }
}

}  // namespace

TEST_CASE("jobs wait for each other, and are listed one by one") {
  const Folder folder;
  const std::string list = folder.path("jobs.csv");
  const nlohmann::json row = results_of(folder, on_star(R"({"jobs": [{"name": "a", "gpus": 4, "duration": "1h"},
                                              {"name": "b", "gpus": 3, "duration": "30min", "submitted": "10min"}]})"),
                                        {"--per-job", list})[0];
  CHECK(row["submitted"] == 2);
  CHECK(row["completed"] == 2);
  CHECK(row["wait_s_max"] == 3000);
  CHECK(row["makespan_s"] == 5400);
  CHECK(row["utilisation"].get<double>() == doctest::Approx((4 * 3600 + 3 * 1800) / (4 * 5400.0)));
  const std::string lines = read_text_file(list);
  CHECK(lines.find(",1,0,a,,,4,completed,0,0,3600,3600,0,3600,1,0:1 1:1 2:1 3:1,,,,\n") != std::string::npos);
  CHECK(lines.find(",1,1,b,,,3,completed,600,3600,5400,1800,3000,1800,1,0:1 1:1 2:1,,,,\n") != std::string::npos);
}

TEST_CASE("seeds draw other arrivals, and the same seed the same") {
  const Folder folder;
  const std::string drawn = on_star(
      R"({"arrivals": {"count": 50, "between": "10min", "classes": [{"gpus": 2, "duration": {"mean": "1h"}}]}})");
  const auto mean = [&](const char* seed) {
    return results_of(folder, drawn, {"--seed", seed})[0]["completion_s_mean"].get<double>();
  };
  CHECK(mean("1") == mean("1"));
  CHECK(mean("1") != mean("2"));
  CHECK(results_of(folder, drawn, {"--set", "/seeds=5"})[0]["seeds"] == 5);
}

TEST_CASE("what cannot work of a workload is refused with its place and what to change") {
  const Folder folder;
  folder.write("short.csv", "timestamp,duration,num_gpus\n2017-10-01 00:00:00,5,1\n");
  folder.write("rows.csv", "timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-01,-5,1,1,a\nsoon,5,1,1,a\n");
  folder.write("queue.csv", "timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-01,5,1,1,a\n2017-10-01,5,1,1,a\n");
  const std::vector<Wrong> wrong = {
      {on_star(R"({"jobs": [{"gpus": 5, "duration": "1h"}]})"), "job-too-large", "5 tasks of 1 GPU "},
      {on_star(R"({"jobs": [{"gpus": 1, "duration": "1h", "gpu_types": ["H100"]}]})"), "job-too-large", "(H100)"},
      {on_star(R"({"jobs": [{"gpus": 1, "duration": "-1h"}]})"), "out-of-range", "at least 1 us"},
      {on_star(R"({"jobs": [{"gpus": 1}]})"), "missing-key", "duration"},
      {on_star(R"({"jobs": [{"gpus": 1, "tasks": [{"gpus": 1}], "duration": "1h"}]})"), "conflict", "either"},
      {on_star(R"({"jobs": [{"duration": "1h"}]})"), "conflict", "either"},
      {on_star(R"({"jobs": [{"tasks": [{"gpus": 2, "gpu_milli": 500}], "duration": "1h"}]})"), "conflict", "shares"},
      {on_star(R"({"jobs": [{"tasks": [{"gpus": 1, "gpu_milli": 500}], "duration": "1h"}]})"), "conflict", "shares"},
      {on_star(R"({"scheduler": "fifo"})"), "missing-key", "arrivals"},
      {on_star(R"({"jobs": {"file": "none.csv", "format": "sia"}})"), "no-log", "none.csv"},
      {on_star(R"({"jobs": {"file": "short.csv", "format": "sia"}})"), "missing-column", "cluster"},
      {on_star(R"({"jobs": {"file": "rows.csv", "format": "sia"}})"), "no-jobs", "duration is no number"},
      {on_star(R"({"jobs": {"file": "queue.csv", "format": "sia", "queues": ["b"]}})"), "no-jobs", "there are: a"},
      {on_star(R"({"jobs": {"file": "rows.csv", "format": "sia", "from": "soon"}})"), "wrong-type", "no date"},
      {an_hour_and(R"("scheduler": "moon")"), "unknown-name", "fifo"},
      {an_hour_and(R"("scheduler": "kueue")"), "missing-key", "cluster_queues"},
      {an_hour_and(R"("scheduler": {"kind": "fifo", "bakfill": "none"})"), "unknown-key", "backfill"},
      {an_hour_and(R"("scheduler": "volcano", "placement": "spread")"), "no-effect", "'volcano' says itself"},
      {an_hour_and(R"("failures": {"sources": [{"between": "0s"}]})"), "out-of-range", "between"},
      {an_hour_and(R"("failures": {"sources": [{"what": "tier", "between": "1d"}]})"), "conflict", "leaf"},
      {an_hour_and(R"("failures": {"sources": [{"what": "tier", "tier": "moon", "between": "1d"}]})"), "no-tier",
       "it has leaf"},
      {an_hour_and(R"("failures": {"sources": [{"what": "job", "between": "1d", "repair": "1h"}]})"), "unknown-key",
       "no node"},
      {an_hour_and(R"("failures": {"sources": [{"between": "1d"}], "spares": 4})"), "out-of-range", "none is left"},
      {on_star(
           R"({"jobs": [{"gpus": 4, "duration": "1h"}], "failures": {"sources": [{"between": "1d"}], "spares": 1}})"),
       "job-too-large", "1 of which stand by"},
      {an_hour_and(R"("checkpoints": {"rule": "fixed"})"), "conflict", "interval"},
      {an_hour_and(R"("checkpoints": {"rule": "daly"})"), "missing-key", "write"},
      {an_hour_and(R"("checkpoints": {"rule": "daly", "write": "1s"})"), "no-effect", "nothing fails"},
      {an_hour_and(R"("checkpoints": {"interval": "0s"})"), "out-of-range", "interval"},
      {an_hour_and(R"("checkpoints": {"interval": "1h", "persist": "2h"})"), "conflict", "persist"},
      {an_hour_and(R"("placement": {"kind": "topology", "mode": "required", "highest_tier": 9})"), "no-tier", "leaf"},
  };
  check_refused(folder, wrong);
}

TEST_CASE("what cannot work of failures is refused") {
  const Folder folder;
  const std::vector<Wrong> wrong = {
      {failing(R"("between": "1d", "what": "rack")"), "conflict", "number of nodes"},
      {failing(R"("between": "1d", "nodes": 2)"), "conflict", "a rack"},
      {failing(R"("between": "1d", "what": "rack", "nodes": 5)"), "out-of-range", "5 nodes, and the cluster 4 nodes"},
      {saving(R"("interval": "1h", "memory": {"interval": "1min", "copies": 3})"), "no-effect", "more than 2 nodes"},
      {failing(R"("between": "1d", "speed": 1)"), "out-of-range", "speed"},
      {failing(R"("between": "1d", "what": "nic", "speed": 0.5, "communication": 0.5)"), "conflict", "leave out"},
      {failing(R"("between": "1d", "communication": 0.5)"), "conflict", "only NICs"},
      {failing(R"("between": "1d", "what": "job", "speed": 0.5)"), "conflict", "software"},
      {failing(R"("between": "1d", "lasts": "1h")"), "no-effect", "lost until"},
      {failing(R"("between": "1d", "coverage": 0.5)"), "missing-key", "nobody checks"},
      {failing(R"("between": "1d", "what": "job", "coverage": 0.5)"), "no-effect", "checks look at nodes"},
      {failing(R"("between": "1d", "speed": 0.5, "repair": "1h")"), "no-effect", "and none does"},
      {failing(R"("between": "1d", "what": "job")", R"(, "checks": {"interval": "5min"})"), "no-effect", "software"},
      {failing(R"("between": "1d")", R"(, "checks": {"interval": "0s"})"), "out-of-range", "interval"},
      {failing(R"("between": "1d", "what": "job")", R"(, "cordon": {"within": "1d"})"), "no-effect", "by itself"},
      {failing(R"("between": "1d")", R"(, "cordon": {"within": "1d", "after": 0})"), "out-of-range", "after"},
      {failing(R"("between": {"law": "empirical"})"), "missing-key", "times to draw from"},
      {failing(R"("between": {"law": "empirical", "times": ["1h"], "mean": "1h"})"), "conflict", "leave out"},
      {failing(R"("between": {"times": ["1h"], "mean": "1h"})"), "no-effect", "empirical"},
      {failing(R"("between": {"law": "weibull"})"), "missing-key", "mean"},
      {saving(R"("interval": "1h", "memory": {"interval": "1h"})"), "no-effect", "no more frequent"},
      {saving(R"("interval": "1h", "memory": {"interval": "1min", "persist": "2min"})"), "conflict", "arrive"},
      {saving(R"("interval": "1h", "memory": {"interval": "1min", "copies": 3, "group": 2})"), "conflict", "group"},
      {saving(R"("interval": "1h", "memory": {"interval": "1min", "copies": 0})"), "out-of-range", "copies"},
      {saving(R"("interval": "1h", "memory": {})"), "missing-key", "interval"},
      {failing(R"("between": "1d")", R"(, "shrink": true)"), "no-effect", "none is"},
      {failing(R"("between": "1d")", R"(, "restart": "requeue", "in_place_overhead": "1s")"), "no-effect", "in place"},
      {on_star(R"({"jobs": [{"gpus": 2, "elastic": {"to": 2}, "duration": "1h"}], "scheduler": "pollux",
                   "failures": {"sources": [{"between": "1d"}], "shrink": true}})"),
       "no-effect", "'pollux' says itself"},
      {saving(R"("restore": "1min")"), "no-effect", "no checkpoint"},
      {saving(R"("interval": "1h", "restore": "1min", "storage": "nas")"), "conflict", "reading"},
  };
  check_refused(folder, wrong);
}

TEST_CASE("what jobs wait for has to be there, and to come to an end") {
  const Folder folder;
  const auto after = [](const std::string& first, const std::string& second) {
    const auto waits = [](const std::string& names) {
      return names.empty() ? std::string("}") : R"(, "after": [)" + names + "]}";
    };
    return on_star(R"({"jobs": [{"name": "a", "gpus": 1, "duration": "1h")" + waits(first) +
                   R"(, {"name": "b", "gpus": 1, "duration": "1h")" + waits(second) + "]}");
  };
  check_refused(folder,
                {{after(R"("c")", ""), "no-such-job", "'c'"},
                 {after(R"("b")", R"("a")"), "cycle", "in a circle: 'a' after 'b' after 'a'"},
                 {on_star(R"({"jobs": [{"gpus": 1, "duration": "1h", "retries": 2}]})"), "no-effect", "fails"}});
  CHECK(results_of(folder, after("", R"("a")"))[0]["wait_s_max"] == 3600);
}

TEST_CASE("what cannot work of trainings is refused") {
  const Folder folder;
  const std::vector<Wrong> wrong = {
      {an_hour_and(R"("contention": {"phases": 2})"), "no-effect", "trainings"},
      {training(R"("training": "b", "steps": 5)"), "no-training", "there is a"},
      {training(R"("training": "a")"), "missing-key", "duration"},
      {training(R"("training": "a", "steps": 5, "duration": "1h")"), "conflict", "steps"},
      {training(R"("training": "a", "steps": 5)"), "missing-key", "on how many GPUs"},
      {training(R"("training": "a", "steps": 5, "gpus": 64)"), "job-too-large", "has 16"},
      {training(R"("training": "a", "steps": 5, "gpus": 3)"), "degrees-do-not-divide", "3 endpoints"},
      {training(R"("steps": 5, "gpus": 8)"), "no-effect", "names none"},
      {training(R"("training": "a", "steps": 5, "gpus": 8)", R"(, "contention": {"links": "ignored", "phases": 2})"),
       "no-effect", "phases"},
      {training(R"("duration": "1h", "gpus": 8)"), "no-effect", "no job trains 'a'"},
  };
  check_refused(folder, wrong);
}

TEST_CASE("jobs that train take as long as their steps, and say what places and others cost them") {
  const Folder folder;
  const nlohmann::json step = results_of(
      folder,
      R"({"cluster": {"node": "DGX-A100", "nodes": 2, "fabric": {"kind": "star", "link": {"rate": "200Gb/s", "latency": "500ns"}}},
                             "training": {"model": "MPT-1B", "global_batch": 32, "sequence": 2048,
                                          "parallel": {"tensor": 2}}})")[0];
  const nlohmann::json alone = results_of(folder, training(R"("training": "a", "steps": 1000, "gpus": 16)"))[0];
  CHECK(alone["completion_s_mean"].get<double>() ==
        doctest::Approx(1000 * step["step_time_s"].get<double>()).epsilon(1e-5));
  CHECK(alone["training_placement_slowdown"] == 1);
  CHECK(alone["training_interference_slowdown"] == 1);
}

TEST_CASE("trainings across leaves slow each other down unless links are ignored, and not where each has its own") {
  const Folder folder;
  const auto with = [&](const std::string& more) {
    return results_of(folder, R"({"cluster": {"node": "DGX-A100", "nodes": 6,
        "fabric": {"kind": "fat_tree", "hosts_per_leaf": 16, "oversubscription": 8, "link": {"rate": "200Gb/s", "latency": "500ns"}}},
      "workload": {"trainings": [{"name": "a", "model": "MPT-1B", "global_batch": 32, "sequence": 2048}],
                   "jobs": [{"gpus": 8, "duration": "1h"},
                            {"training": "a", "gpus": 16, "steps": 100, "count": 2}])" +
                                  more + "}}")[0];
  };
  const nlohmann::json shared = with(R"(, "placement": "first_fit")");
  const nlohmann::json ignored = with(R"(, "placement": "first_fit", "contention": {"links": "ignored"})");
  const nlohmann::json packed = with(R"(, "placement": "topology")");
  CHECK(shared["training_interference_slowdown"] > 1.01);
  CHECK(ignored["training_interference_slowdown"] == 1);
  CHECK(shared["training_placement_slowdown"].get<double>() ==
        doctest::Approx(ignored["training_placement_slowdown"].get<double>()));
  CHECK(packed["training_placement_slowdown"].get<double>() == doctest::Approx(1));
  CHECK(packed["training_interference_slowdown"].get<double>() == doctest::Approx(1));
}

TEST_CASE("rows of a log that cannot be used are counted by reason, and the run goes on") {
  const Folder folder;
  folder.write(
      "log.csv",
      "timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-01 00:00:00,60,1,60,a\nsoon,5,1,1,a\nlater,5,1,1,a\n");
  const std::string file = folder.write("s.json", on_star(R"({"jobs": {"file": "log.csv", "format": "sia"}})"));
  const auto done = athanor_run({"run", file});
  CHECK(done.code == 0);
  CHECK(done.says("2 of 3 rows are left out, the first in line 3: timestamp is no date"));
}

TEST_CASE("a scheduler that gives elastic jobs no other numbers of GPUs says so") {
  const Folder folder;
  const auto says = [&](const std::string& scheduler) {
    const std::string file = folder.write(
        "s.json", on_star(R"({"jobs": [{"gpus": 2, "duration": "1h", "elastic": {"to": 4}}], "scheduler": ")" +
                          scheduler + R"("})"));
    return athanor_run({"run", file}).says("gives elastic jobs the GPUs that they ask for");
  };
  CHECK(says("fifo"));
  CHECK(!says("pollux"));
  CHECK(!says("volcano"));
}

TEST_CASE("what a workload cannot do is refused by the option's name") {
  const Folder folder;
  const std::string file = folder.write("s.json", on_star(R"({"jobs": [{"gpus": 1, "duration": "1h"}]})"));
  for (const auto& [option, words] :
       std::vector<std::pair<std::string, std::string>>{{"--flows", "--per-job"}, {"--ports", "leave it out"}}) {
    const auto done = athanor_run({"run", file, option, folder.path("x.csv")});
    CHECK(done.code == 2);
    CHECK(done.says(words));
  }
  CHECK(athanor_run({"run", file, "--strict"}).code == 2);
  CHECK(athanor_run({"run", file, "--sizes", "1MiB"}).code == 2);
  const std::string other = folder.write("c.json", small_with("1KiB", "1KiB"));
  CHECK(athanor_run({"run", other, "--per-job", folder.path("x.csv")}).says("this is none"));
}

TEST_CASE("slices of GPUs: as many run at once as a GPU can be split into, and what it cannot is refused by name") {
  const Folder folder;
  const auto on_a100 = [](const std::string& tasks) {
    return R"({"cluster": {"node": "DGX-A100"}, "workload": {"jobs": [{"count": 64, "duration": "1h", "tasks": [)" +
           tasks + R"(]}]}})";
  };
  const auto makespan = [&](const std::string& tasks) {
    return results_of(folder, on_a100(tasks))[0]["makespan_s"].get<double>();
  };
  CHECK(makespan(R"({"mig": "1g.10gb"})") == 2 * 3600);  // 8 GPUs with 7 each: 56 of 64
  CHECK(makespan(R"({"mig": "3g.40gb"})") == 4 * 3600);
  CHECK(makespan(R"({"mig": "4g.40gb"})") == 8 * 3600);
  CHECK(makespan(R"({"mig": "4g.40gb"}, {"mig": "3g.40gb"})") == 8 * 3600);
  check_refused(folder,
                {{on_a100(R"({"mig": "1g.5gb"})"), "no-slice", "1g.10gb, 1g.20gb"},
                 {on_a100(R"({"mig": "1g.10gb", "gpu_milli": 100})"), "conflict", "gpu_milli"},
                 {on_a100(R"({"mig": "1g.10gb", "gpus": 2})"), "conflict", "no others"},
                 {on_a100(R"({"mig": "1g.10gb", "gpus": 1})"), "conflict", "no others"},
                 {on_star(R"({"jobs": [{"tasks": [{"mig": "1g.10gb"}], "duration": "1h"}]})"), "no-slice", "GPU: none"},
                 {R"({"cluster": {"node": "DGX-A100"}, "workload": {
              "jobs": [{"duration": "1h", "tasks": [{"mig": "1g.10gb"}]}],
              "scheduler": {"kind": "volcano", "actions": ["enqueue", "allocate", "preempt"]}}})",
                  "not-simulated", "slices"}});
}

TEST_CASE("the list of jobs names each node once, with what all tasks of a job have there") {
  const Folder folder;
  const std::string list = folder.path("jobs.csv");
  const auto nodes_of = [&](const std::string& tasks) {
    results_of(
        folder,
        R"({"cluster": {"node": "DGX-A100"}, "workload": {"jobs": [{"duration": "1h", "tasks": [)" + tasks + "]}]}}",
        {"--per-job", list});
    const std::string lines = read_text_file(list);
    const std::size_t at = lines.find(",3600,1,") + 8;
    return lines.substr(at, lines.find(',', at) - at);
  };
  CHECK(nodes_of(R"({"gpus": 3}, {"gpus": 2})") == "0:5");
  CHECK(nodes_of(R"({"gpu_milli": 460})") == "0:0.46");
  CHECK(nodes_of(R"({"count": 16, "mig": "3g.40gb"})") == "0:8");
}

TEST_CASE("nodes of several kinds: jobs get the GPUs that they may have, and are as fast as the slowest of them") {
  const Folder folder;
  const auto mixed = [](const std::string& jobs) {
    return R"({"cluster": {"nodes": [{"node": "DGX-A100", "count": 2}, {"node": "DGX-H100", "count": 2}],
                           "fabric": {"kind": "star", "link": {"rate": "200Gb/s", "latency": "500ns"}}},
               "workload": {"scheduler": "fifo", "placement": "first_fit", "jobs": [)" +
           jobs + "]}}";
  };
  const std::string list = folder.path("jobs.csv");
  const auto lines = [&](const std::string& jobs) {
    results_of(folder, mixed(jobs), {"--per-job", list});
    return read_text_file(list);
  };
  const std::string types = lines(R"({"name": "h", "gpus": 8, "gpu_types": ["H100-SXM-80GB"], "duration": "1h"},
                                     {"name": "a", "gpus": 8, "gpu_types": ["A100-SXM-80GB"], "duration": "1h"})");
  CHECK(types.find(",h,,,8,completed,0,0,3600,3600,0,3600,1,2:8,") != std::string::npos);
  CHECK(types.find(",a,,,8,completed,0,0,3600,3600,0,3600,1,0:8,") != std::string::npos);
  const std::string speeds = lines(
      R"({"name": "on one", "gpus": 8, "gpu_types": ["A100-SXM-80GB"], "duration": "1h", "speed_by_gpu": {"A100-SXM-80GB": 0.5}},
         {"name": "on both", "gpus": 24, "duration": "1h", "speed_by_gpu": {"A100-SXM-80GB": 0.5}},
         {"name": "of no matter", "gpus": 8, "duration": "1h", "submitted": "2h"})");
  CHECK(speeds.find(",on one,,,8,completed,0,0,7200,3600,0,7200,1,0:8,") != std::string::npos);
  CHECK(speeds.find(",on both,,,24,completed,0,0,7200,3600,0,7200,1,1:8 2:8 3:8,") != std::string::npos);
  CHECK(speeds.find(",of no matter,,,8,completed,7200,7200,10800,3600,0,3600,1,") != std::string::npos);
  check_refused(
      folder,
      {{mixed(R"({"gpus": 8, "duration": "1h", "speed_by_gpu": {"V100": 0.5}})"), "no-type", "A100-SXM-80GB and H100"},
       {mixed(R"({"gpus": 8, "duration": "1h", "speed_by_gpu": {"A100-SXM-80GB": 0}})"), "out-of-range", "0"}});
}

TEST_CASE("gavel gives each of two jobs the GPUs on which it loses least, and says what it does not share out") {
  const Folder folder;
  const auto scenario = [](const std::string& scheduler, const std::string& rest) {
    return R"({"cluster": {"nodes": [{"node": "DGX-A100"}, {"node": "DGX-H100"}],
                           "fabric": {"kind": "star", "link": {"rate": "200Gb/s", "latency": "500ns"}}},
               "workload": {"scheduler": )" +
           scheduler + R"(, "jobs": [{"gpus": 8, "duration": "1h", "speed_by_gpu": {"A100-SXM-80GB": 0.9}},
                                     {"gpus": 8, "duration": "1h", "speed_by_gpu": {"A100-SXM-80GB": 0.2}})" +
           rest + "}}";
  };
  const auto makespan = [&](const std::string& scheduler) {
    return results_of(folder, scenario(scheduler, "]"))[0]["makespan_s"].get<double>();
  };
  CHECK(makespan(R"({"kind": "gavel", "policy": "fifo"})") ==
        doctest::Approx(3960));  // each on its type; the first moves at 3,600 s
  // With a ninth of the time exchanged both are at 0.911.
  CHECK(std::abs(makespan(R"({"kind": "gavel", "policy": "makespan"})") - 3951.2) < 360);
  // With half of it each has what an equal share would give it: speeds of 0.95 and 0.6, until the first one ends.
  CHECK(std::abs(makespan(R"("gavel")") - 5115.8) < 360);
  const std::string gavel = R"("gavel")";
  check_refused(
      folder,
      {{scenario(gavel, R"(, {"tasks": [{"gpu_milli": 500}], "duration": "1h"}])"), "not-simulated", "whole GPUs"},
       {scenario(gavel, R"(], "placement": "best_fit")"), "no-effect", "gavel"},
       {scenario(R"({"kind": "gavel", "policy": "least"})", "]"), "unknown-name", "max_min_fairness, makespan, fifo"},
       {scenario(R"({"kind": "gavel", "round": "0s"})", "]"), "out-of-range", "from 1 s"}});
}

TEST_CASE(
    "joint_devices: a task that never finds its NICs near its GPUs is refused, and one that waits for them waits") {
  const Folder folder;
  const auto scenario = [](const std::string& required, const std::string& tasks) {
    return R"({"cluster": {"node": "DGX-A100"},
               "workload": {"placement": {"kind": "joint_devices", "required": ")" +
           required + R"("}, "jobs": [{"count": 3, "duration": "1h", "tasks": [)" + tasks + "]}]}}";
  };
  const auto makespan = [&](const std::string& required) {
    return results_of(folder, scenario(required, R"({"gpus": 2, "nics": 3})"))[0]["makespan_s"].get<double>();
  };
  // Each has NICs of two switches, of which a socket has two: a third task would have to take what is on both sockets.
  CHECK(makespan("pcie") == 2 * 3600);
  CHECK(makespan("node") == 2 * 3600);
  check_refused(folder, {{scenario("pcie", R"({"gpus": 1, "nics": 3})"), "job-too-large", "1 GPU, 3 NICs"},
                         {scenario("rack", R"({"gpus": 1, "nics": 1})"), "unknown-name", "node, socket, pcie"}});
}
