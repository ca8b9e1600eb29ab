#include <string>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "sim/file.hpp"
#include "tests/json_text.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"
#include "tests/tools/run/workload_scenarios.hpp"

using namespace athanor;

namespace {

/// One job on two nodes, and a training that it may do.
std::string training(const std::string& job, const std::string& more = "") {
  return R"({"cluster": {"node": "DGX-A100", "nodes": 2, "fabric": {"kind": "star", "link": {"rate": "200Gb/s", "latency": "500ns"}}},
             "workload": {"trainings": [{"name": "a", "model": "MPT-1B", "global_batch": 32, "sequence": 2048,
                                         "parallel": {"tensor": 2}}],
                          "jobs": [{)" +
         job + "}]" + more + "}}";
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
  CHECK(lines.find(",1,0,a,,,4,completed,0,0,3600,3600,0,3600,1,0:1 1:1 2:1 3:1,,,,,1,0,,\n") != std::string::npos);
  CHECK(lines.find(",1,1,b,,,3,completed,600,3600,5400,1800,3000,1800,1,0:1 1:1 2:1,,,,,2.667,0,,\n") !=
        std::string::npos);
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
  const std::vector<WrongWorkload> wrong = {
      {on_star(R"({"jobs": [{"gpus": 5, "duration": "1h"}]})"), "job-too-large", "5 tasks of 1 GPU, does"},
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
  const std::vector<WrongWorkload> wrong = {
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
  const std::string list = folder.path("jobs.csv");
  const auto with = [&](const std::string& more) {
    return results_of(folder,
                      R"({"cluster": {"node": "DGX-A100", "nodes": 6,
        "fabric": {"kind": "fat_tree", "hosts_per_leaf": 16, "oversubscription": 8, "link": {"rate": "200Gb/s", "latency": "500ns"}}},
      "workload": {"trainings": [{"name": "a", "model": "MPT-1B", "global_batch": 32, "sequence": 2048}],
                   "jobs": [{"gpus": 8, "duration": "1h"},
                            {"training": "a", "gpus": 16, "steps": 100, "count": 2}])" +
                          more + "}}",
                      {"--per-job", list})[0];
  };
  const nlohmann::json shared = with(R"(, "placement": "first_fit")");
  // All of the two alike: each has its nodes half on either leaf, so that the factors of the row are those of each.
  const std::string costs = fmt::format("{:.4g},{:.4g}\n", shared["training_placement_slowdown"].get<double>(),
                                        shared["training_interference_slowdown"].get<double>());
  const std::string lines = read_text_file(list);
  CHECK(lines.find(",0,,\n") != std::string::npos);
  CHECK(lines.find(",0," + costs) != lines.rfind(",0," + costs));
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
