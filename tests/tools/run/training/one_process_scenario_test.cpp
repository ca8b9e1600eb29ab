// One process for all GPUs (PyTorch's DataParallel): what GPU 0 and the others hold, what results say of it, and what
// is refused.
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/json_text.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// On the eight GPUs of a DGX H100, whose host is 56 GB/s away; `model` and what else a training has.
std::string scenario_of(const std::string& training, std::uint32_t nodes = 1) {
  return fmt::format(
      R"({{"cluster": {{"node": "DGX-H100", "nodes": {}, "fabric": {{"kind": "star", "switch": "QM9700"}}}},
           "training": {{"compute": {{"gemm": {{"share": 1, "depth": 0}}, "attention": 1, "memory": 1}}, {}}}}})",
      nodes, training);
}

std::string gpt(const std::string& parallel, const std::string& more = "") {
  return scenario_of(fmt::format(
      R"("model": {{"preset": "GPT-2-XL", "vocabulary": 50304}}, "micro_batch": 4, "global_batch": 32, "sequence": 1024,
         "parallel": {} {})",
      parallel, more));
}

/// Two samples on each of eight GPUs.
std::string layers(const std::string& input, const std::string& parallel) {
  return scenario_of(fmt::format(
      R"("model": {{"layers": [{{"parameters": 1000, "forward_flops": 1000000, "output": 10}}] {}}},
         "micro_batch": 2, "global_batch": 16, "precision": "fp32", "parallel": {})",
      input, parallel));
}

constexpr const char* kOneProcess = R"({"single_process": true})";

/// Code, place and message of the first problem.
std::string problem_of(const std::string& scenario) {
  const Folder folder;
  const Ran ran = athanor_run({"run", folder.write("s.json", scenario), "--json"});
  CAPTURE(ran.out);
  REQUIRE(ran.code == 3);
  const nlohmann::json error = ran.json()["error"];
  CHECK(error["line"].get<int>() > 0);
  return fmt::format("{} {} {}; {}", error["code"].get<std::string>(), error["pointer"].get<std::string>(),
                     error["message"].get<std::string>(), error["hint"].get<std::string>());
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("results tell what GPU 0 and what each other GPU of a process holds, and what is assumed") {
  const Folder folder;
  const nlohmann::json one = result_of(folder, gpt(kOneProcess));
  const nlohmann::json each = result_of(folder, gpt("{}"));
  const auto memory = [](const nlohmann::json& row) { return row["memory_gb"].get<double>(); };
  CHECK(memory(one) > memory(each));
  CHECK(one["other_gpus_memory_gb"].get<double>() < memory(each));
  CHECK_FALSE(each.contains("other_gpus_memory_gb"));
  const std::string notes = text_of(one["notes"]);
  CHECK(holds(notes, "one process: each GPU copies its share of the inputs from pinned memory of the host, 56.0 GB/s"));
  CHECK(holds(notes, "the loss of all outputs and the optimizer run on GPU 0 alone"));
  CHECK_FALSE(holds(text_of(each["notes"]), "one process"));
  const Ran ran = athanor_run({"run", folder.write("s.json", gpt(kOneProcess))});
  CHECK(ran.says("data 8 in one process; batch 32 of 4 at once"));
  CHECK(ran.says("#   memory: "));
  CHECK(ran.says(" GB on GPU 0, of 85: "));
  CHECK(ran.says(" GB on each other GPU, of 85: "));
}

TEST_CASE("plain layers say how large a sample is, or their inputs cost nothing, which is told") {
  const Folder folder;
  const nlohmann::json unknown = result_of(folder, layers("", kOneProcess));
  CHECK(holds(text_of(unknown["notes"]), "inputs cost nothing, since the model does not say their size"));
  const nlohmann::json known = result_of(folder, layers(R"(, "input": "28MB")", kOneProcess));
  const auto step = [](const nlohmann::json& row) { return row["step_time_s"].get<double>(); };
  CHECK(step(known) - step(unknown) == doctest::Approx(2 * 28e6 / 56e9).epsilon(1e-9));
  // GPU 0: 1000 parameters of 4 bytes, their gradients three times, two moments; what it puts out, 80 bytes, of eight
  // GPUs; inputs. When gradients are added up, nothing else is left.
  CHECK(known["memory_gb"].get<double>() == doctest::Approx((4000 * 6 + 8 * 80 + 56e6) * 1e-9).epsilon(1e-12));
  CHECK(known["other_gpus_memory_gb"].get<double>() ==
        doctest::Approx((4000 + 4000 + 80 + 80 + 56e6) * 1e-9).epsilon(1e-12));
}

TEST_CASE("that a model does not fit is said of GPU 0, and what would help leaves the one process") {
  const std::string large =
      gpt(kOneProcess, R"(, "gpu": {"preset": "H100-SXM-80GB", "memory": "40GB"}, "strict": true)");
  const std::string problem = problem_of(large);
  CHECK(holds(problem, "out-of-memory"));
  CHECK(holds(problem, " GB on GPU 0 by estimate, and "));
  CHECK(holds(problem, "a process for each GPU"));
  const std::string plain = scenario_of(
      R"("model": {"layers": [{"parameters": 4000000000, "forward_flops": 1, "output": 1}]}, "global_batch": 8, "strict": true,
         "precision": "fp32", "parallel": {"single_process": true})");
  CHECK(holds(problem_of(plain), "use a smaller micro_batch or a process for each GPU"));
}

TEST_CASE("one process has the GPUs of one node") {
  const std::string two =
      scenario_of(R"("model": "GPT-2", "global_batch": 16, "sequence": 1024, "parallel": {"single_process": true})", 2);
  CHECK(holds(problem_of(two), "conflict /training one process has the GPUs of one node, and these 16 are on 2"));
}

TEST_CASE("the size of inputs is refused where it does nothing") {
  CHECK(holds(problem_of(layers(R"(, "input": "1MB")", "{}")), "no-effect /training/model/input"));
  CHECK(holds(problem_of(layers(R"(, "input": "0B")", kOneProcess)), "/training/model/input"));
  CHECK(holds(problem_of(layers(R"(, "inputs": "1MB")", kOneProcess)), "did you mean 'input'"));
  const std::string ids = scenario_of(
      R"("model": {"preset": "GPT-2", "input": "1MB"}, "global_batch": 8, "sequence": 1024, "parallel": {"single_process": true})");
  CHECK(holds(problem_of(ids), "no-effect /training/model/input a transformer reads ids of tokens"));
}

TEST_CASE("plans that are searched have a process for each GPU, and one process is ranked among them") {
  const Folder folder;
  std::vector<std::string> words{"plan", folder.write("s.json", gpt(kOneProcess))};
  for (const char* word : {"--tensor", "1", "--context", "1", "--pipeline", "1", "--micro-batch", "4", "--top", "3"}) {
    words.emplace_back(word);
  }
  CHECK(athanor_run(words).says("data 8 in one process; micro-batch 4"));
  words.emplace_back("--json");
  const Ran ran = athanor_run(words);
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  const nlohmann::json answer = ran.json();
  CHECK(answer["results"][0]["step_time_s"] < result_of(folder, gpt(kOneProcess))["step_time_s"]);
}

TEST_CASE("explain tells what a process for each GPU would bring") {
  const Folder folder;
  const Ran ran = athanor_run({"explain", folder.write("s.json", gpt(kOneProcess))});
  CAPTURE(ran.out);
  REQUIRE(ran.code == 0);
  CHECK(ran.says("  a process for each GPU"));
  CHECK_FALSE(ran.says("gradients reduced beside backward"));
}
