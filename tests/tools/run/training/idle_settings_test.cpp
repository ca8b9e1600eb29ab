// Settings of a plan that have nothing to act on are told; keys that a kind of model does not have are refused.
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

std::string notes_of(const std::string& parallel) {
  const Folder folder;
  const Ran ran = athanor_run({"run", folder.write("s.json", training(R"("GPT-2")", parallel)), "--json"});
  CAPTURE(ran.out);
  REQUIRE(ran.code == 0);
  return text_of(ran.json()["results"][0]["notes"]);
}

/// Code and pointer of the first problem.
std::string problem_of(const std::string& scenario) {
  const Folder folder;
  const Ran ran = athanor_run({"run", folder.write("s.json", scenario), "--json"});
  CAPTURE(ran.out);
  REQUIRE(ran.code == 3);
  const nlohmann::json error = ran.json()["error"];
  return error["code"].get<std::string>() + " " + error["pointer"].get<std::string>();
}

}  // namespace

TEST_CASE("what a plan says without anything to act on is told") {
  for (const std::string setting :
       {R"("sequence_parallel": true)", R"("overlap_tensor": true)", R"("overlap_pipeline": false)", R"("prefetch": 3)",
        R"("shard_calls": 2)", R"("gather_again": true)", R"("reduce_every": 2)", R"("fp8_parameters": true)",
        R"("host_per_rank": "1us")", R"("shard_group": 4)", R"("overlap_parameters": true)", R"("bucket": "1MB")",
        R"("schedule": "zb_h1")"}) {
    const std::string key = setting.substr(0, setting.find(':'));
    CAPTURE(setting);
    CHECK(notes_of("{" + setting + "}").find("has no effect here") != std::string::npos);
  }
  CHECK(notes_of(R"({"sharding": "parameters", "overlap_gradients": true})").find("has no effect here") !=
        std::string::npos);
  CHECK(notes_of(R"({"tensor": 4, "pipeline": 2, "sharding": "optimizer"})").find("has no effect here") !=
        std::string::npos);
  CHECK(notes_of(R"({"autocast": true, "master_bytes": 2})").find("has no effect here") != std::string::npos);
  CHECK(notes_of(R"({"master_bytes": 2})").find("has no effect here") == std::string::npos);
  for (const std::string optimizer : {"sgd", "adafactor", "adam_8bit"}) {
    const std::string parallel = fmt::format(R"({{"optimizer": "{}", "moment_bytes": 2}})", optimizer);
    CHECK(notes_of(parallel).find(R"(moment_bytes\" has no effect here)") != std::string::npos);
  }
  CHECK(notes_of(R"({"optimizer": "muon", "moment_bytes": 2})").find("has no effect here") == std::string::npos);
}

TEST_CASE("what has no effect on time has none on memory") {
  const Folder folder;
  const auto memory = [&](const std::string& parallel) {
    const Ran ran = athanor_run({"run", folder.write("s.json", training(R"("GPT-2")", parallel)), "--json"});
    REQUIRE(ran.code == 0);
    return ran.json()["results"][0]["memory_gb"].get<double>();
  };
  CHECK(memory(R"({"sequence_parallel": true})") == memory("{}"));
  for (const std::string sharding : {"optimizer", "gradients", "parameters"}) {
    CHECK(memory(R"({"tensor": 4, "pipeline": 2, "sharding": ")" + sharding + "\"}") ==
          memory(R"({"tensor": 4, "pipeline": 2})"));
  }
}

TEST_CASE("what acts is not told") {
  for (const char* parallel :
       {"{}", R"({"tensor": 4, "sequence_parallel": true, "overlap_tensor": true, "overlap_gradients": true})",
        R"({"sharding": "parameters", "prefetch": 2, "shard_calls": 2, "host_per_rank": "1us"})",
        R"({"sharding": "parameters", "recompute": "full", "gather_again": true})",
        R"({"sharding": "optimizer", "overlap_gradients": true, "overlap_parameters": true, "bucket": "1MB"})",
        R"({"pipeline": 2, "overlap_pipeline": false})"}) {
    CAPTURE(parallel);
    CHECK(notes_of(parallel).find("has no effect here") == std::string::npos);
  }
}

TEST_CASE("a list of layers has no tokens, no attention and no dropout of its own") {
  CHECK(problem_of(training(kLayers, "{}", R"(, "sequence": 1024)")) == "no-effect /training/sequence");
  CHECK(problem_of(training(kLayers, "{}", R"(, "costs": {"tokens": 1000000})")) == "no-effect /training/costs/tokens");
  for (const std::string key : {"fused_attention", "fused_loss", "dropout"}) {
    CHECK(problem_of(training(kLayers, "{\"" + key + "\": true}")) == "no-effect /training/parallel/" + key);
  }
  CHECK(problem_of(training(kLayers, R"({"recompute": "selective"})")) == "no-effect /training");
}

TEST_CASE("the busiest expert rank computes and keeps more, and the others wait for it") {
  const Folder folder;
  const auto row = [&](const std::string& more) {
    const std::string text =
        training(R"("Mixtral-8x7B")", R"({"expert": 8, "sharding": "optimizer"})", R"(, "sequence": 2048)" + more);
    const Ran ran = athanor_run({"run", folder.write("s.json", text), "--json"});
    CAPTURE(ran.out);
    REQUIRE(ran.code == 0);
    return ran.json()["results"][0];
  };
  const nlohmann::json even = row("");
  const nlohmann::json uneven = row(R"(, "expert_imbalance": 2)");
  const auto computing = [](const nlohmann::json& step) {
    return step["step_time_s"].get<double>() * step["breakdown"]["computing"].get<double>();
  };
  // Most of what Mixtral computes is its experts', which the busiest rank has twice as much of.
  CHECK(computing(uneven) > 1.6 * computing(even));
  CHECK(computing(uneven) < 2 * computing(even));
  CHECK(uneven["memory_gb"] > even["memory_gb"]);
}
