#include <filesystem>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/json_text.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// A step of 9 ms: three layers of 989e9 operations a sample forward, and twice that backward, at an H100's peak.
std::string step(const std::string& more, const std::string& cases = "") {
  std::string layers;
  for (const char* name : {"a", "b", "c"}) {
    layers += fmt::format(R"({}{{"name": "{}", "parameters": 0, "forward_flops": 989000000000, "output": 1}})",
                          layers.empty() ? "" : ", ", name);
  }
  return fmt::format(
      R"({{"cluster": {{"node": "DGX-H100", "nodes": 1}},
           "training": {{"model": {{"layers": [{}]}}, "micro_batch": 1, "global_batch": 1,
             "compute": {{"gemm": {{"share": 1, "depth": 0}}, "attention": 1, "memory": 1}}, "parallel": {{"data": 1}}{}}}{}}})",
      layers, more, cases);
}

Ran verified(const std::string& scenario, const std::vector<std::string>& more = {}) {
  const Folder folder;
  std::vector<std::string> words{"verify", folder.write("s.json", scenario)};
  words.insert(words.end(), more.begin(), more.end());
  return athanor_run(words);
}

}  // namespace

TEST_CASE("a step of training is held against what it took, and fails above its limit") {
  CHECK(verified(step(R"(, "measured": "10ms")")).code == 0);
  CHECK(verified(step(R"(, "measured": "10ms", "max_error": 0.11)")).code == 0);
  const Ran failed = verified(step(R"(, "measured": "10ms", "max_error": 0.09)"));
  CHECK(failed.code == 5);
  CHECK(failed.out.find("-10.0") != std::string::npos);
  CHECK(failed.out.find("FAILED: |error|") != std::string::npos);
  CHECK(verified(step(R"(, "measured": "10ms", "max_error": 0.09)"), {"--max-error", "11%"}).code == 0);
}

TEST_CASE("the median over the steps of a scenario has a limit of its own") {
  const std::string cases =
      R"(, "cases": [{"name": "a"}, {"name": "b", "training": {"measured": "9.1ms"}}, {"name": "c", "training": {"measured": "9ms"}}])";
  const Ran passed = verified(step(R"(, "measured": "10ms", "max_median_error": 0.02)", cases));
  CHECK(passed.code == 0);
  CHECK(passed.out.find("# 3 steps: |error| 1.1 % in the median") != std::string::npos);
  CHECK(verified(step(R"(, "measured": "10ms", "max_median_error": 0.005)", cases)).code == 5);
}

TEST_CASE("plans for one training are held against the order in which they were measured") {
  // On one GPU a step takes 9 ms a sample whatever the micro-batch; two GPUs halve it. `c` has another batch, `d`
  // another release.
  const std::string cases = R"(, "cases": [
    {"name": "a", "training": {"measured": "19ms", "global_batch": 2}},
    {"name": "b", "training": {"measured": "18ms", "global_batch": 2, "parallel": {"recompute": "full"}}},
    {"name": "c", "training": {"measured": "9ms"}},
    {"name": "d", "training": {"measured": "17ms", "global_batch": 2, "measured_with": {"software": "s", "release": "2"}}}])";
  const Ran ran = verified(step("", cases), {"--json"});
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  const nlohmann::json choices = ran.json()["plan_choices"];
  REQUIRE(choices.size() == 1);
  CHECK(choices[0]["plans"] == 2);
  CHECK(choices[0]["gpus"] == 1);
  CHECK(choices[0]["global_batch"] == 2);
  CHECK(choices[0]["tau"] == -1);
  CHECK(choices[0]["predicted"] == "a");
  CHECK(choices[0]["measured"] == "b");
  CHECK(choices[0]["regret"].get<double>() == doctest::Approx(19.0 / 18 - 1));
}

TEST_CASE("steps of a directory are listed by scenario") {
  const Folder folder;
  folder.write("first.json", step(R"(, "measured": "10ms")"));
  folder.write("second.json", step(""));
  const Ran ran = athanor_run({"verify", "--all", "--directory", folder.path(""), "--json"});
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  const nlohmann::json tables = ran.json()["training_steps"];
  REQUIRE(tables.size() == 1);
  CHECK(tables[0]["scenario"] == folder.path("first.json"));
  CHECK(tables[0]["steps"] == 1);
  CHECK(tables[0]["median_error"].get<double>() == doctest::Approx(0.1).epsilon(0.01));
}

TEST_CASE("without a measured step nothing can be verified or allowed") {
  const Ran nothing = verified(step(""));
  CHECK(nothing.code == 3);
  CHECK(nothing.err.find("\"measured\" of \"training\"") != std::string::npos);
  const Ran limit = verified(step(R"(, "max_error": 0.1)"));
  CHECK(limit.code == 3);
  CHECK(limit.err.find("no step was measured") != std::string::npos);
}
