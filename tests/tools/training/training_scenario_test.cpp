#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/file.hpp"
#include "sim/json/text.hpp"
#include "tests/tools/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// Peaks are those of the preset: 1e12 FLOP/s a hundredth of 989.
constexpr const char* kCompute = R"("compute": {"gemm": {"share": 1, "shape": 0}, "attention": 1, "memory": 1})";

/// On DGX H100.
std::string on_dgx(std::uint32_t nodes, const std::string& training, const std::string& more = "") {
  return fmt::format(
      R"({{"cluster": {{"node": "DGX-H100", "nodes": {}, "fabric": {{"kind": "star", "switch": "QM9700"}}}},
                         {} "training": {}}})",
      nodes, more, training);
}

std::string gpt(const std::string& parallel, const std::string& more = "") {
  return fmt::format(R"({{"model": "GPT-3-175B", "micro_batch": 1, "global_batch": 16, "sequence": 2048, {}, {}
                          "parallel": {}}})",
                     kCompute, more, parallel);
}

nlohmann::json result_of(const Folder& folder, const std::string& scenario) {
  const Ran ran = athanor_run({"run", folder.write("s.json", scenario), "--json"});
  CAPTURE(scenario);
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  return ran.json()["results"][0];
}

/// Code and message of the first problem of a scenario that is refused.
std::string problem_of(const std::string& scenario) {
  const Folder folder;
  const Ran ran = athanor_run({"run", folder.write("s.json", scenario), "--json"});
  CAPTURE(scenario);
  CAPTURE(ran.out);
  REQUIRE(ran.code == 3);
  const nlohmann::json error = ran.json()["error"];
  CHECK(error["line"].get<int>() > 0);
  return error["code"].get<std::string>() + ": " + error["message"].get<std::string>();
}

bool begins(const std::string& text, const std::string& with) { return text.rfind(with, 0) == 0; }

}  // namespace

TEST_CASE("one GPU computes a list of layers for as long as their operations take at its peak") {
  const Folder folder;
  // Three layers of 989e9 operations a sample forward and twice that backward: 9 ms.
  const nlohmann::json row = result_of(folder, on_dgx(1, fmt::format(R"({{
    "model": {{"layers": [
      {{"name": "a", "parameters": 0, "forward_flops": 989000000000, "output": 1}},
      {{"name": "b", "parameters": 0, "forward_flops": 989000000000, "output": 1}},
      {{"name": "c", "parameters": 0, "forward_flops": 989000000000, "output": 1}}]}},
    "micro_batch": 1, "global_batch": 1, {}, "parallel": {{"data": 1}}}})",
                                                                     kCompute)));
  CHECK(row["step_time_s"].get<double>() == doctest::Approx(9e-3).epsilon(1e-3));
  CHECK(row["mfu"].get<double>() == doctest::Approx(1).epsilon(1e-3));
  CHECK(row["bubble_fraction"].get<double>() == doctest::Approx(0).epsilon(1e-6));
}

TEST_CASE("tokens, model FLOPs and utilisation follow from the time of a step") {
  const Folder folder;
  const nlohmann::json row =
      result_of(folder, on_dgx(8, gpt(R"({"tensor": 8, "pipeline": 8, "sequence_parallel": true})")));
  const double step = row["step_time_s"];
  CHECK(row["gpus"] == 64);
  CHECK(row["tokens_per_s"].get<double>() == doctest::Approx(16 * 2048 / step));
  // 72 B s l h^2 (1 + s / 6h + V / 12 l h), the count of Megatron-LM.
  const double h = 12288;
  const double l = 96;
  const double flops = 72 * 16 * 2048 * l * h * h * (1 + 2048 / (6 * h) + 51200 / (12 * l * h));
  CHECK(row["tflops_per_gpu"].get<double>() == doctest::Approx(flops / step / 64 * 1e-12).epsilon(0.003));
  CHECK(row["mfu"].get<double>() == doctest::Approx(row["tflops_per_gpu"].get<double>() / 989).epsilon(1e-4));
  double sum = 0;
  for (const auto& [key, share] : row["breakdown"].items()) { sum += share.get<double>(); }
  CHECK(sum == doctest::Approx(1));
  // 16 micro-batches through 8 stages: of 23 slots 7 are empty.
  CHECK(row["bubble_fraction"].get<double>() == doctest::Approx(7.0 / 23).epsilon(0.1));
  CHECK(row["memory_gb"].get<double>() > 1);
}

TEST_CASE("what a step took on such a machine stands beside it") {
  const Folder folder;
  const nlohmann::json row =
      result_of(folder, on_dgx(8, gpt(R"({"tensor": 8, "pipeline": 8})", R"("measured": "10s",)")));
  CHECK(row["measured_time_s"] == 10);
  CHECK(row["error"].get<double>() == doctest::Approx(row["step_time_s"].get<double>() / 10 - 1));
}

TEST_CASE("NCCL carries out the collectives of groups where the profile has it") {
  const Folder folder;
  const Ran ran = athanor_run({"run", folder.write("s.json", on_dgx(2, gpt(R"({"tensor": 8, "pipeline": 2})"),
                                                                    R"("profile": "nccl-hopper-ib",)"))});
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  CHECK(ran.out.find("TP all_reduce of") != std::string::npos);
  CHECK(ran.out.find("PP send_receive of 48 MiB, rounds") != std::string::npos);
  CHECK(ran.out.find("extrapolated: the compute profile inline was not fitted") != std::string::npos);
}

TEST_CASE("a timeline has a process for each stage") {
  const Folder folder;
  const std::string path = folder.path("t.json");
  const Ran ran =
      athanor_run({"run", folder.write("s.json", on_dgx(2, gpt(R"({"tensor": 8, "pipeline": 2})"))), "--trace", path});
  REQUIRE(ran.code == 0);
  const std::string text = read_text_file(path);
  CHECK(text.find("\"stage 0\"") != std::string::npos);
  CHECK(text.find("\"stage 1\"") != std::string::npos);
  CHECK(text.find("\"attention forward\"") != std::string::npos);
}

TEST_CASE("plans that do not fit cluster, batch or model are refused with what to change") {
  CHECK(begins(problem_of(on_dgx(1, gpt(R"({"tensor": 3})"))),
               "degrees-do-not-divide: tensor 3 x context 1 x pipeline 1 = 3 does not divide the 8 endpoints"));
  CHECK(begins(problem_of(on_dgx(1, gpt(R"({"tensor": 8, "data": 2})"))), "too-many-ranks: 8 x data 2 = 16 ranks"));
  CHECK(begins(problem_of(on_dgx(4, gpt(R"({"data": 32})"))),
               "batch-does-not-divide: a global batch of 16 is no multiple of micro_batch 1 x data 32 = 32"));
  CHECK(begins(problem_of(on_dgx(1, gpt(R"({"tensor": 5, "data": 1})"))), "plan-does-not-fit: "));
  CHECK(begins(problem_of(on_dgx(1, gpt(R"({"pipeline": 8, "schedule": "interleaved", "virtual_stages": 16})"))),
               "too-few-layers: 96 layers for 128 places"));
  CHECK(begins(problem_of(on_dgx(1, gpt(R"({"pipeline": 8, "layers": [96]})"))), "layers-do-not-fit: "));
  CHECK(
      begins(problem_of(on_dgx(2, gpt(R"({"pipeline": 16, "schedule": "interleaved"})"))), "pipeline-does-not-fit: "));
  CHECK(begins(problem_of(on_dgx(1, gpt(R"({"order": "tp-dp"})"))), "wrong-order: "));
}

TEST_CASE("a model that does not fit into memory is told, and refused where that is asked for") {
  const Folder folder;
  const nlohmann::json row = result_of(folder, on_dgx(1, gpt(R"({"tensor": 8})")));
  CHECK(row["memory_gb"].get<double>() > 80);
  CHECK(text_of(row["notes"]).find("does not fit into memory") != std::string::npos);
  CHECK(begins(problem_of(on_dgx(1, gpt(R"({"tensor": 8})", R"("strict": true,)"))), "out-of-memory: "));
}

TEST_CASE("precisions and GPUs that do not go together are refused") {
  CHECK(begins(problem_of(on_dgx(1, gpt(R"({"tensor": 8})", R"("gpu": "A100-SXM-80GB", "precision": "fp8",)"))),
               "no-such-precision: GPU A100-SXM-80GB does not multiply in fp8"));
  CHECK(begins(problem_of(on_dgx(1, gpt(R"({"tensor": 8})", R"("gpu": "H101",)"))), "unknown-preset: "));
}

TEST_CASE("a case trains or does something else") {
  const std::string both =
      on_dgx(1, gpt(R"({"tensor": 8})"), R"("collective": {"kind": "all_reduce", "sizes": "1MiB"},)");
  CHECK(begins(problem_of(both), "conflict: "));
}
