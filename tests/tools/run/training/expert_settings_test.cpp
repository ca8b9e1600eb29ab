#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/json_text.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// 16 experts on 16 GPUs of two nodes, two stages of one layer each.
std::string step(const std::string& parallel, const std::string& more = "",
                 const std::string& experts = R"("experts": {"experts": 16, "top_k": 4, "ffn": 2048})") {
  return fmt::format(
      R"({{"cluster": {{"node": "DGX-H100", "nodes": 4, "fabric": {{"kind": "star", "switch": "QM9700"}}}},
          "training": {{"model": {{"layers": 2, "hidden": 2048, "vocabulary": 32000, "ffn": 4096,
                                   "attention": {{"heads": 16}}, {}}},
                        "micro_batch": 1, "global_batch": 128, "sequence": 2048,
                        "compute": {{"gemm": {{"share": 1, "depth": 0}}, "attention": 1, "memory": 1}}, {}
                        "parallel": {{"pipeline": 2, "expert": 16, {}}}}}}})",
      experts, more, parallel);
}

nlohmann::json row_of(const std::string& parallel) {
  const Folder folder;
  return result_of(folder, step(parallel));
}

std::string problem_of(const std::string& scenario) {
  const Folder folder;
  const Ran ran = athanor_run({"run", folder.write("s.json", scenario), "--json"});
  CAPTURE(ran.out);
  REQUIRE(ran.code == 3);
  const nlohmann::json error = ran.json()["error"];
  return error["code"].get<std::string>() + ": " + error["message"].get<std::string>();
}

bool begins(const std::string& text, const std::string& with) {
  CAPTURE(text);
  CHECK(text.substr(0, with.size()) == with);
  return text.substr(0, with.size()) == with;
}

}  // namespace

TEST_CASE(
    "a step exchanges tokens as its plan says, says what it takes for granted, and hides exchanges where told to") {
  const nlohmann::json forwarded = row_of(R"("experts": {"kind": "deep_ep"})");
  const nlohmann::json narrow = row_of(R"("experts": {"kind": "deep_ep", "dispatch": "fp8"})");
  const nlohmann::json hidden = row_of(R"("experts": {"kind": "deep_ep"}, "overlap_experts": true)");
  CHECK(narrow["step_time_s"].get<double>() < forwarded["step_time_s"].get<double>());
  CHECK(hidden["exposed_comm_s"].get<double>() < 0.7 * forwarded["exposed_comm_s"].get<double>());
  CHECK(forwarded["notes"].dump().find("deep_ep with 24 multiprocessors") != std::string::npos);
}

TEST_CASE("unequal experts make a step longer, and capacity makes it shorter again") {
  const double even = row_of(R"("experts": {"kind": "deep_ep"})")["step_time_s"].get<double>();
  const double uneven = row_of(R"("experts": {"kind": "deep_ep", "zipf": 1})")["step_time_s"].get<double>();
  const double dropping =
      row_of(R"("experts": {"kind": "deep_ep", "zipf": 1, "capacity_factor": 1})")["step_time_s"].get<double>();
  CHECK(uneven > even);
  CHECK(dropping < uneven);
}

TEST_CASE("keys of experts that have nothing to act on in a step are refused") {
  CHECK(begins(problem_of(step(R"("experts": {"kind": "low_latency", "most_nodes": 1})")),
               "plan-does-not-fit: \"most_nodes\" has no effect with low_latency"));
  CHECK(begins(problem_of(step(R"("experts": {"kind": "deep_ep", "redundant": 16})")),
               "plan-does-not-fit: \"redundant\" replicas are of models that answer"));
  CHECK(begins(problem_of(step(R"("schedule": "zb_h1", "overlap_experts": true)")),
               "plan-does-not-fit: \"overlap_experts\" needs a forward and a backward by turns"));
  CHECK(
      begins(problem_of(step(R"("experts": {"zipf": 1})", R"("expert_imbalance": 2,)")), "conflict: \"experts\" says"));
  CHECK(begins(problem_of(step(R"("experts": {"loads": [9, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]})")),
               "no-such-loads: expert 0 gets 1.5 choices of each token"));
  CHECK(begins(problem_of(step(R"("experts": {"kinds": "deep_ep"})")), "unknown-key: "));
  const std::string dense = R"("gated": true)";
  const std::string none = step(R"("experts": {"kind": "deep_ep"})", "", dense);
  std::string scenario = none;
  scenario.replace(scenario.find(R"("expert": 16, )"), 14, "");
  CHECK(begins(problem_of(scenario), "no-effect: "));
}

TEST_CASE(
    "what is said of the busiest rank alone is refused of kernels that follow each expert, and steep laws stay "
    "finite") {
  CHECK(begins(problem_of(step(R"("experts": {"kind": "deep_ep"})", R"("expert_imbalance": 2,)")),
               "conflict: exchanges of deep_ep follow from how busy each expert is"));
  const nlohmann::json steep = row_of(R"("experts": {"zipf": 5})");
  CHECK(steep["step_time_s"].get<double>() > 0);
  CHECK(steep.dump().find("nan") == std::string::npos);
}
