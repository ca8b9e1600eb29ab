// What is trained and by which optimizer, as scenarios say it, and what is refused.
#include <cmath>
#include <vector>

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

namespace {

/// A LoRA of GPT-2 on one GPU with `more` keys.
std::string lora(const std::string& more, const std::string& model = R"("GPT-2")", const std::string& beside = "") {
  return training(model, R"({"data": 1, "lora": {"rank": 8)" + more + "}" + beside + "}");
}

}  // namespace

TEST_CASE("adapters are named in results, and need less memory and time than the whole model") {
  const nlohmann::json all = row_of(training(R"("GPT-2")", R"({"data": 1})"));
  const nlohmann::json some = row_of(lora(""));
  CHECK(!all.contains("lora"));
  CHECK(some["lora"] == "query+value");
  CHECK(some["lora_rank"] == 8);
  CHECK(some["base_precision"] == "wide");
  CHECK(some["trained_parameters"] == 12 * 2 * 8 * (768 + 768));
  CHECK(some["memory_gb"] < all["memory_gb"]);
  CHECK(some["step_time_s"] < all["step_time_s"]);
  const nlohmann::json narrow = row_of(lora(R"(, "base_precision": "nf4")"));
  CHECK(narrow["base_precision"] == "nf4");
  CHECK(narrow["memory_gb"] < some["memory_gb"]);
  CHECK(narrow["step_time_s"] > some["step_time_s"]);
}

TEST_CASE(
    "copies of a model with adapters add up the adapters' gradients alone, and sharded ones gather the base, too") {
  const auto text = [](const std::string& sharding) {
    return training(R"("GPT-2")", R"({"sharding": ")" + sharding + R"(", "lora": {"rank": 8, "targets": ["up"]}})");
  };
  const Folder folder;
  const auto said = [&](const std::string& sharding) {
    return athanor_run({"run", folder.write("s.json", text(sharding))}).out;
  };
  // 12 layers of rank 8 beside 768 x 3,072, in 4 bytes.
  const int gradients = 12 * 8 * (768 + 3072) * 4 / 1024;
  CHECK(has(said("none"), fmt::format("all_reduce of {} KiB", gradients)));
  CHECK(has(said("optimizer"), fmt::format("reduce_scatter of {} KiB", gradients)));
  CHECK(has(said("optimizer"), fmt::format("all_gather of {} KiB", gradients / 2)));
  // A layer: 12 x 768^2 of matrices, 13 x 768 of biases and norms, and its adapter, in 2 bytes.
  const double layer = 2 * (12.0 * 768 * 768 + 13 * 768 + 8 * (768 + 3072));
  CHECK(has(said("parameters"), fmt::format("all_gather of {:.0f} B", layer)));
}

TEST_CASE("adapters that cannot be are refused by name") {
  CHECK(has(problem_of(lora(R"(, "targets": ["q_proj"])")), "unknown-name"));
  CHECK(has(problem_of(lora(R"(, "targets": ["querry"])")), "query"));
  CHECK(has(problem_of(lora(R"(, "targets": [])")), "the list has 0 elements"));
  CHECK(has(problem_of(lora(R"(, "targets": ["gate"])")), "plan-does-not-fit: GPT-2 has no matrix \"gate\""));
  CHECK(has(problem_of(lora(R"(, "alpha": 16)")), "alpha"));
  CHECK(has(problem_of(lora(R"(, "base_precision": "nf8")")), "nf4"));
  CHECK(has(problem_of(training(R"("GPT-2")", R"({"lora": {}})")), "rank"));
  CHECK(
      has(problem_of(training(R"("GPT-2")", R"({"lora": {"rank": 768}})")), "plan-does-not-fit: adapters of rank 768"));
  CHECK(has(problem_of(training(R"("GPT-2")", R"({"lora": {"rank": 0}})")), "0 is out of range"));
  CHECK(has(problem_of(lora("", R"("GPT-2")", R"(, "autocast": true)")), "autocast"));
  CHECK(has(problem_of(lora("", R"("DeepSeek-V3")")), "plan-does-not-fit"));
  CHECK(has(problem_of(lora("", kLayers)), "plan-does-not-fit: adapters stand beside matrices of a transformer"));
}

TEST_CASE("published times of LoRA on an A100 come out within 7 %, and memory of short sequences within 15 %") {
  // README of QwenLM/Qwen, "Profiling of Memory and Speed": seconds and GB of Qwen-7B, for 512 to 8,192 tokens. Logits
  // of long sequences are in memory several times there.
  const nlohmann::json rows = athanor_run({"run", "../scenarios/training/adapters.json", "--json"}).json()["results"];
  const std::vector<double> times{1.5, 2.8, 5.2, 10.1, 21.3};
  const std::vector<double> memory{20.4, 21.5, 23.8};
  REQUIRE(rows.size() > times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(rows[i]["step_time_s"].get<double>() / times[i] - 1) < 0.07);
    if (i < memory.size()) { CHECK(std::abs(rows[i]["memory_gb"].get<double>() / memory[i] - 1) < 0.15); }
  }
}
