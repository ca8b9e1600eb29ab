#include <map>
#include <string>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "sim/file.hpp"
#include "tests/json_text.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"
#include "tests/tools/run/workload_scenarios.hpp"

using namespace athanor;

namespace {

/// One job of an hour, a source of failures, and what else is said of them.
std::string failing(const std::string& source, const std::string& more = "") {
  return an_hour_and(R"("failures": {"sources": [{)" + source + "}]" + more + "}");
}

/// One job of an hour that saves its work.
std::string saving(const std::string& checkpoints) { return an_hour_and(R"("checkpoints": {)" + checkpoints + "}"); }

}  // namespace

TEST_CASE("false alarms of checks stand in results among sources") {
  const Folder folder;
  const nlohmann::json row = results_of(
      folder,
      failing(
          R"("between": "9000d")",
          R"(, "checks": {"interval": "1min", "found": "move", "false_alarms": {"probability": 1}}, "spares": 1)"))[0];
  CHECK(row["failures"]["false alarms"] > 0);
  CHECK(row["lost_gpu_hours"]["false alarms"] == 0);
}

TEST_CASE("what cannot work of failures is refused") {
  const Folder folder;
  const auto alarms = [](const std::string& what) {
    return R"(, "checks": {"interval": "5min", "false_alarms": )" + what + "}";
  };
  const std::vector<WrongWorkload> wrong = {
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
      {failing(R"("between": "1d")", alarms("{}")), "missing-key", "probability"},
      {failing(R"("between": "1d")", alarms(R"({"probability": 0})")), "out-of-range", "probability"},
      {failing(R"("between": "1d")", alarms(R"({"probability": 1e-6, "between": "1d"})")), "unknown-key", "repair"},
      {failing(R"("between": "1d", "name": "false alarms")", alarms(R"({"probability": 1e-6})")), "duplicate",
       "another name"},
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
      {failing(R"("between": "1d")", R"(, "restart": "lost_tasks")"), "not-simulated", "'fifo' places whole jobs"},
      {failing(R"("between": "1d")", R"(, "restart": "lost_tasks")"), "not-simulated", "'kubernetes' or 'volcano'"},
      {an_hour_and(R"("scheduler": "slurm", "failures": {"sources": [{"between": "1d"}], "restart": "lost_tasks"})"),
       "not-simulated", "'slurm' places whole jobs"},
      {an_hour_and(R"("scheduler": "volcano", "failures": {"sources": [{"between": "1d"}], "restart": "lost_tasks"},
                      "checkpoints": {"interval": "1h", "memory": {"interval": "1min"}})"),
       "not-simulated", "in memory"},
      {failing(R"("between": "1d")", R"(, "restart": "lost_tasks", "shrink": true)"), "no-effect", "gives them others"},
      {failing(R"("between": "1d", "what": "job")", R"(, "restart": "lost_tasks")"), "no-effect", "no job loses tasks"},
      {failing(R"("between": "1d", "speed": 0.5)", R"(, "restart": "lost_tasks")"), "no-effect", "no job loses tasks"},
      {on_star(R"({"jobs": [{"gpus": 2, "elastic": {"to": 2}, "duration": "1h"}], "scheduler": "pollux",
                   "failures": {"sources": [{"between": "1d"}], "shrink": true}})"),
       "no-effect", "'pollux' says itself"},
      {saving(R"("restore": "1min")"), "no-effect", "no checkpoint"},
      {saving(R"("interval": "1h", "restore": "1min", "storage": "nas")"), "conflict", "reading"},
  };
  check_refused(folder, wrong);
}

TEST_CASE("scenarios of what failures take from gangs say what the guide says") {
  const auto rows_of = [](const char* scenario) {
    const Folder folder;
    std::map<std::string, nlohmann::json> rows;
    for (const nlohmann::json& row : results_of(folder, read_text_file(scenario))) { rows[row["case"]] = row; }
    return rows;
  };
  auto gang = rows_of("../scenarios/jobs/gang_after_repair.json");
  const auto lost = [&](const char* name) { return gang[name]["lost_gpu_hours"]["node"].get<double>(); };
  // It holds 56 GPUs and fewer for nothing, until nobody else waits.
  CHECK(lost("as installed") > 9'000);
  CHECK(lost("with a spare node") > 9'000);
  for (const char* mended : {"of higher priority", "without drf", "RestartJob, sla before gang"}) {
    CAPTURE(mended);
    CHECK(lost(mended) < 400);
    CHECK(gang[mended]["effective_time"].get<double>() > 0.96);
  }
  // It holds nothing, and waits for eight nodes at once.
  CHECK(lost("RestartJob") < 200);
  CHECK(gang["RestartJob"]["effective_time"].get<double>() == doctest::Approx(0.80).epsilon(0.01));
  auto elastic = rows_of("../scenarios/jobs/shrinking_training.json");
  const auto days = [&](const char* name) { return elastic[name]["makespan_s"].get<double>() / 86'400; };
  CHECK(days("waits for the repair") == doctest::Approx(46.5).epsilon(0.01));
  CHECK(days("shrinks") == doctest::Approx(31.5).epsilon(0.01));
  CHECK(days("two nodes stand by") == doctest::Approx(30.9).epsilon(0.01));
}
