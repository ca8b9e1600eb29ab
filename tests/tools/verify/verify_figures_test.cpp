#include <doctest/doctest.h>

#include "tests/json_text.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// Two jobs of an hour on one GPU: they take one hour and two.
std::string two_jobs(const std::string& more) {
  return R"({"cluster": {"nodes": 1, "fabric": {"kind": "star", "link": {"rate": "1GB/s", "latency": "1us"}}},
             "workload": {"jobs": [{"gpus": 1, "duration": "1h", "count": 2}])" +
         more + "}}";
}

Ran verified(const Folder& folder, const std::string& scenario, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{"verify", folder.write("s.json", scenario)};
  words.insert(words.end(), more.begin(), more.end());
  return athanor_run(words);
}

}  // namespace

TEST_CASE("figures of a workload are held against measured ones, and fail above their limit") {
  const Folder folder;
  const std::string measured = R"(, "measured": {"completion_s_mean": 6000, "makespan_s": 7200})";
  const Ran shown = verified(folder, two_jobs(measured));
  CHECK(shown.code == 0);
  CHECK(shown.out.find("-10.0  completion_s_mean") != std::string::npos);
  CHECK(shown.out.find("# 2 figures: |error| 0.0 % in the median, 10.0 % at most") != std::string::npos);
  CHECK(verified(folder, two_jobs(measured + R"(, "max_error": 0.11)")).code == 0);
  const Ran failed = verified(folder, two_jobs(measured + R"(, "max_error": 0.09)"));
  CHECK(failed.code == 5);
  CHECK(failed.out.find("FAILED: |error| of completion_s_mean: 10.00 %") != std::string::npos);
  CHECK(verified(folder, two_jobs(measured + R"(, "max_error": 0.09)"), {"--max-error", "11%"}).code == 0);
}

TEST_CASE("waits of a log are what its workload is held against, in words and in JSON") {
  const Folder folder;
  folder.write("log.sacct",
               "JobIDRaw|User|Partition|State|Submit|Start|End|ElapsedRaw|NNodes|AllocTRES\n"
               "1|u|a|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T01:00:00|3600|1|gres/gpu=1\n"
               "2|u|b|COMPLETED|2026-01-01T00:00:00|2026-01-01T01:20:00|2026-01-01T02:20:00|3600|1|gres/gpu=1\n");
  const std::string scenario =
      R"({"cluster": {"nodes": 1, "fabric": {"kind": "star", "link": {"rate": "1GB/s", "latency": "1us"}}},
          "workload": {"jobs": {"file": "log.sacct", "format": "slurm"}}})";
  const Ran shown = verified(folder, scenario);
  CHECK(shown.code == 0);
  CHECK(shown.out.find("-25.0  wait, mean (s)") != std::string::npos);
  CHECK(shown.out.find("wait, mean of 1 job of b (s)") != std::string::npos);
  CHECK(shown.out.find("waits are 0 s apart in the median, 50 % within a minute; rank correlation 1.00") !=
        std::string::npos);
  CHECK(verified(folder, scenario, {"--max-error", "24%"}).code == 5);
  CHECK(verified(folder, scenario, {"--max-error", "26%"}).code == 0);
  const nlohmann::json document = nlohmann::json::parse(verified(folder, scenario, {"--json"}).out);
  CHECK(document["figures"][0]["figure"] == "wait, mean (s)");
  CHECK(document["figures"][0]["measured"] == 2400);
  CHECK(document["figures"][0]["error"] == doctest::Approx(-0.25));
  CHECK(document["results"][0]["logged_waits"]["queues"]["b"]["simulated_s"] == 3600);
}

TEST_CASE("what a workload cannot be held against is refused by name") {
  const Folder folder;
  const Ran unknown = verified(folder, two_jobs(R"(, "measured": {"completion_mean": 6000})"));
  CHECK(unknown.code == 3);
  CHECK(unknown.err.find("completion_s_mean") != std::string::npos);
  CHECK(unknown.err.find("/workload/measured/completion_mean") != std::string::npos);
  CHECK(verified(folder, two_jobs(R"(, "measured": {"makespan_s": 0})")).code == 3);
  const Ran lacking = verified(folder, two_jobs(R"(, "measured": {"stall": 0.1})"));
  CHECK(lacking.code == 3);
  CHECK(lacking.err.find("has no 'stall'") != std::string::npos);
  CHECK(verified(folder, two_jobs("")).says("no case names a measurement"));
  CHECK(verified(folder, two_jobs(R"(, "max_error": 0.1)")).says("max_error"));
}
