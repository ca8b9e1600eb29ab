// A plan that names a framework: what it assumes, what wins over it, what is said of it, and that scenarios with all
// defaults filled in read back to the same results.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include "models/experiments/scenario/framework_section.hpp"
#include "tests/json_text.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

std::string scenario(const std::string& parallel, const std::string& more = "",
                     const std::string& model = R"({"preset": "Llama-3.1-8B", "layers": 8})") {
  return fmt::format(R"({{"cluster": {{"node": "DGX-H100", "nodes": 1}},
 "training": {{"model": {}, "global_batch": 16, "sequence": 2048, "compute": "nemo-2411-h100-bf16",
               "parallel": {} {}}}}})",
                     model, parallel, more);
}

std::string plan(const std::string& framework, const std::string& more = "") {
  return fmt::format(R"({{"framework": "{}"{}}})", framework, more.empty() ? "" : ", " + more);
}

nlohmann::json row_of(const std::string& text) {
  const Folder folder;
  const Ran ran = athanor_run({"run", folder.write("s.json", text), "--json"});
  CAPTURE(ran.err);
  CAPTURE(ran.out);
  REQUIRE(ran.code == 0);
  return ran.json()["results"][0];
}

/// Code, pointer and message of the first problem.
std::string problem_of(const std::string& text) {
  const Folder folder;
  const Ran ran = athanor_run({"run", folder.write("s.json", text), "--json"});
  CAPTURE(ran.out);
  REQUIRE(ran.code == 3);
  const nlohmann::json error = ran.json()["error"];
  return fmt::format("{} {}: {}", error["code"].get<std::string>(), error["pointer"].get<std::string>(),
                     error["message"].get<std::string>());
}

std::vector<std::string> frameworks() {
  std::vector<std::string> names;
  const nlohmann::json answer = athanor_run({"list", "frameworks", "--json"}).json();
  for (const nlohmann::json& each : answer["results"]) { names.push_back(each["name"]); }
  return names;
}

/// What is wrong with a file of frameworks whose presets are these.
std::string faults_of(const std::string& presets) {
  const Folder folder;
  folder.write("presets/frameworks.json",
               R"({"sources": {"s": {"what": "w", "where": "u"}}, "presets": )" + presets + "}");
  Problems problems;
  load_frameworks(Library(folder.path("")), problems);
  std::string text;
  for (const Problem& problem : problems.list()) { text += describe(problem) + "\n"; }
  return text;
}

std::string with_rule(const std::string& rule) {
  return fmt::format(R"({{"a": {{"summary": "x", "rules": [{{{}, "by": "y"}}]}}}})", rule);
}

}  // namespace

TEST_CASE("every framework runs in every kind of plan, without a word about settings that have nothing to act on") {
  REQUIRE(frameworks().size() > 10);
  for (const std::string& name : frameworks()) {
    for (const char* degrees : {"", R"("tensor": 2, "pipeline": 2)", R"("data": 1)"}) {
      CAPTURE(name);
      CAPTURE(degrees);
      const nlohmann::json result = row_of(scenario(plan(name, degrees)));
      CHECK(result["framework"] == name);
      CHECK(text_of(result["notes"]).find("no effect") == std::string::npos);
    }
  }
}

TEST_CASE("what a framework assumes is told, as far as it acts") {
  const nlohmann::json copies = row_of(scenario(plan("nemo-25.02")));
  CHECK(copies["assumed"]["sharding"] == "optimizer");
  CHECK(copies["assumed"]["bucket"] == "512MiB");  // 128 Mi parameters of 4 bytes
  CHECK_FALSE(copies["assumed"].contains("sequence_parallel"));
  const nlohmann::json tensor = row_of(scenario(plan("nemo-25.02", R"("tensor": 8)")));
  CHECK(tensor["assumed"]["sequence_parallel"] == true);
  CHECK_FALSE(tensor["assumed"].contains("bucket"));
  CHECK_FALSE(row_of(scenario("{}")).contains("framework"));
}

TEST_CASE("a plan with a framework takes as long as one that spells it out") {
  const nlohmann::json named = row_of(scenario(plan("nemo-25.02", R"("tensor": 2, "pipeline": 2)")));
  const nlohmann::json spelt = row_of(scenario(
      R"({"tensor": 2, "pipeline": 2, "sharding": "optimizer", "overlap_gradients": true, "overlap_parameters": true,
          "sequence_parallel": true, "overlap_tensor": true, "overlap_pipeline": false, "bucket": "512MiB"})"));
  CHECK(named["step_time_s"] == spelt["step_time_s"]);
  CHECK(named["memory_gb"] == spelt["memory_gb"]);
}

TEST_CASE("a key wins over the framework") {
  const nlohmann::json result = row_of(scenario(plan("fsdp2", R"("sharding": "none")")));
  CHECK(result["sharding"] == "none");
  CHECK_FALSE(result["assumed"].contains("sharding"));
  CHECK(row_of(scenario(plan("maxtext", R"("recompute": "none")")))["recompute"] == "none");
  CHECK(row_of(scenario(plan("maxtext")))["recompute"] == "full");
}

TEST_CASE("rules follow virtual stages, precision and the pipeline") {
  const auto assumed = [](const std::string& text) { return row_of(text)["assumed"]; };
  CHECK(assumed(scenario(plan("megatron-core", R"("pipeline": 4, "virtual_stages": 2)")))["schedule"] == "interleaved");
  CHECK(assumed(scenario(plan("megatron-core", R"("pipeline": 4)")))["overlap_pipeline"] == false);
  CHECK(assumed(scenario(plan("nemo-25.02"), R"(, "precision": "fp8")"))["gradient_bytes"] == 2);
  CHECK(assumed(scenario(plan("nemo-25.02")))["gradient_bytes"] == 4);
  CHECK(assumed(scenario(plan("torchtitan")))["sharding"] == "parameters");
  CHECK(assumed(scenario(plan("torchtitan", R"("pipeline": 2)")))["sharding"] == "optimizer");
}

TEST_CASE("a framework that is not known is refused with those that are") {
  const std::string problem = problem_of(scenario(plan("megatron")));
  CHECK(problem.starts_with("unknown-name /training/parallel/framework: 'megatron' is not one of"));
  for (const std::string& name : frameworks()) { CHECK(problem.find(name) != std::string::npos); }
}

TEST_CASE("arguments of Megatron-LM and a framework exclude each other") {
  const std::string arguments =
      R"({"megatron": "--num-layers 4 --hidden-size 512 --num-attention-heads 8 --vocab-size 1000 --seq-length 2048 --micro-batch-size 1 --position-embedding-type rope"})";
  CHECK(
      problem_of(scenario(plan("megatron-core"), "", arguments)).starts_with("conflict /training/parallel/framework"));
}

TEST_CASE("a list of layers has a framework, too") {
  const std::string layers = R"({"layers": [{"parameters": 100000000, "forward_flops": 1000000000, "output": 1}]})";
  for (const std::string& name : frameworks()) {
    CAPTURE(name);
    std::string text = scenario(plan(name), "", layers);
    text.replace(text.find(R"("sequence": 2048, )"), 18, "");
    CHECK(row_of(text)["framework"] == name);
  }
}

TEST_CASE("a scenario with its defaults filled in reads back to the same results") {
  for (const std::string& name : frameworks()) {
    for (const char* degrees : {"", R"("tensor": 2, "pipeline": 2, "data": 2)", R"("tensor": 2, "pipeline": 2)"}) {
      CAPTURE(name);
      CAPTURE(degrees);
      const Folder folder;
      const std::string text = scenario(plan(name, degrees));
      const Ran resolved = athanor_run({"validate", "--resolved", folder.write("s.json", text)});
      REQUIRE(resolved.code == 0);
      CHECK(row_of(resolved.out) == row_of(text));
    }
  }
}

TEST_CASE("a sweep goes through frameworks") {
  const Folder folder;
  const std::string file = folder.write("s.json", scenario(plan("fsdp2")));
  const Ran ran = athanor_run({"sweep", file, "--vary", "/training/parallel/framework=fsdp2,megatron-core,pytorch-ddp",
                               "-o", folder.path("out.sqlite"), "--json", "--quiet"});
  CAPTURE(ran.err);
  CHECK(ran.code == 0);
}

TEST_CASE("a search of plans keeps to the framework, and its plan is found again") {
  const Folder folder;
  const std::string best = folder.path("best.json");
  const std::string file = folder.write("s.json", scenario(plan("nemo-25.02")));
  const Ran ran = athanor_run({"plan", file, "--micro-batch", "1", "--schedule", "1f1b,interleaved", "--tensor", "2",
                               "--sharding", "optimizer", "--top", "1", "-o", best, "--json"});
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  CHECK(ran.json()["search"]["framework"] == "nemo-25.02");
  const nlohmann::json found = ran.json()["results"][0];
  CHECK(found["sequence_parallel"] == true);
  const Ran again = athanor_run({"run", best, "--json"});
  CAPTURE(again.out);
  REQUIRE(again.code == 0);
  const nlohmann::json result = again.json()["results"][0];
  CHECK(result["assumed"]["overlap_tensor"] == true);
  CHECK(result["step_time_s"].get<double>() == doctest::Approx(found["step_time_s"].get<double>()).epsilon(1e-9));
}

TEST_CASE("list frameworks tells what each sets, and where that is said") {
  const Ran plain = athanor_run({"list", "frameworks"});
  CHECK(plain.says("megatron-core"));
  const Ran verbose = athanor_run({"list", "frameworks", "--verbose"});
  CHECK(verbose.says("bucket 40000000 parameters, 1000000 parameters_per_copy"));
  CHECK(verbose.says("https://github.com/NVIDIA/Megatron-LM/blob/"));
}

TEST_CASE("what is wrong with a file of frameworks is said at its place") {
  CHECK(faults_of(with_rule(R"("set": {"dropout": true}, "source": "s")")).empty());
  const auto says = [](const std::string& presets, const char* words) {
    const std::string faults = faults_of(presets);
    CAPTURE(faults);
    CHECK(faults.find(words) != std::string::npos);
  };
  says(with_rule(R"("set": {"dropout": true}, "source": "t")"), "source \"t\" is not in this file");
  says(with_rule(R"("set": {"dropout": true})"), "key 'source' is missing");
  says(with_rule(R"("set": {"tensor": 2}, "source": "s")"), "there is no key 'tensor' here");
  says(with_rule(R"("set": {"gradient_bytes": 3}, "source": "s")"), "a gradient has 2 or 4 bytes");
  says(with_rule(R"("set": {"bucket": {}}, "source": "s")"), "a bucket has bytes or parameters");
  says(with_rule(R"("set": {"dropout": true}, "source": "s", "where": "fp16")"),
       "sets \"dropout\" in some plans alone");
  says(R"({"a": {"summary": "x", "like": "b"}})", "'a' is like none that stands on its own");
  says(R"({"a": {"summary": "x", "like": "b"}, "b": {"summary": "y", "like": "a"}})", "stands on its own");
}

TEST_CASE("a library without frameworks has none to name") {
  const Folder folder;
  Problems problems;
  CHECK(load_frameworks(Library(folder.path("")), problems).empty());
  CHECK(problems.empty());
}
