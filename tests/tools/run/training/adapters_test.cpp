// What is trained and by which optimizer, as scenarios say it, and what is refused.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/json_text.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

constexpr const char* kLayers = R"({"layers": [{"parameters": 100000000, "forward_flops": 1000000000, "output": 1}]})";

std::string training(const std::string& model, const std::string& parallel, const std::string& more = "") {
  return fmt::format(R"({{"cluster": {{"node": "DGX-H100", "nodes": 1}},
 "training": {{"model": {}, "global_batch": 16, "compute": {{"gemm": {{"share": 1, "depth": 0}}, "attention": 1, "memory": 1}},
               "parallel": {} {}}}}})",
                     model, parallel, more);
}

nlohmann::json row_of(const std::string& scenario) {
  const Folder folder;
  return result_of(folder, scenario);
}

/// Code and message of the first problem.
std::string problem_of(const std::string& scenario) {
  const Folder folder;
  const Ran ran = athanor_run({"run", folder.write("s.json", scenario), "--json"});
  CAPTURE(ran.out);
  REQUIRE(ran.code == 3);
  const nlohmann::json error = ran.json()["error"];
  return error["code"].get<std::string>() + ": " + error["message"].get<std::string>() + " " +
         error["hint"].get<std::string>();
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("an optimizer that keeps less needs less memory, and is named where it is not Adam") {
  const nlohmann::json adam = row_of(training(R"("GPT-2")", "{}"));
  CHECK(!adam.contains("optimizer"));
  for (const std::string optimizer : {"sgd", "sgd_momentum", "adafactor", "muon", "adam_8bit"}) {
    CAPTURE(optimizer);
    const nlohmann::json row = row_of(training(R"("GPT-2")", R"({"optimizer": ")" + optimizer + "\"}"));
    CHECK(row["optimizer"] == optimizer);
    CHECK(row["memory_gb"] < adam["memory_gb"]);
  }
}

TEST_CASE("optimizers that there are not, or that need matrices which are not there, are refused") {
  CHECK(has(problem_of(training(R"("GPT-2")", R"({"optimizer": "adam8bit"})")), "adam_8bit"));
  const std::string cut = problem_of(training(R"("GPT-2")", R"({"optimizer": "muon", "sharding": "parameters"})"));
  CHECK(has(cut, "plan-does-not-fit: muon needs whole matrices, which sharding of parameters cuts"));
  for (const std::string optimizer : {"muon", "adafactor"}) {
    CHECK(has(problem_of(training(kLayers, R"({"optimizer": ")" + optimizer + "\"}")),
              "plan-does-not-fit: " + optimizer + " updates matrices"));
  }
  CHECK(row_of(training(kLayers, R"({"optimizer": "sgd"})"))["optimizer"] == "sgd");
}
