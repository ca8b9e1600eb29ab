#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "sim/file.hpp"
#include "tests/json_text.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// Peaks are those of the preset: 1e12 FLOP/s a hundredth of 989.
constexpr const char* kCompute = R"("compute": {"gemm": {"share": 1, "depth": 0}, "attention": 1, "memory": 1})";

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

TEST_CASE("without a profile copies on several nodes add up over all their NICs") {
  const Folder folder;
  const auto exposed = [&](const char* parallel) {
    const std::string layers = R"([{"parameters": 100000000, "forward_flops": 1000000000, "output": 1000}])";
    return result_of(folder,
                     on_dgx(2, fmt::format(R"({{"model": {{"layers": {}}}, "global_batch": 16, {}, "parallel": {}}})",
                                           layers, kCompute, parallel)))["exposed_comm_s"]
        .get<double>();
  };
  // 400 MB over 16 GPUs of 8 NICs at 50 GB/s on each node.
  const double usable = 0.99;
  CHECK(exposed("{}") == doctest::Approx(2 * 15.0 / 16 * 400e6 / (8 * 50e9 * usable)).epsilon(0.1));
}

TEST_CASE("figures of a plan that cannot be are refused") {
  const std::string model = R"("model": "GPT-2", )" + std::string(kCompute);
  CHECK(begins(problem_of(on_dgx(1, "{" + model + R"(, "parallel": {"gradient_bytes": 3}})")),
               "out-of-range: a gradient has 2 or 4 bytes, not 3"));
  CHECK(begins(problem_of(on_dgx(1, "{" + model + R"(, "measured": "0s"})")), "out-of-range"));
}

TEST_CASE("recipes of fp8 are refused by name where they are none, or the GPU has not got them") {
  const auto with = [](const char* recipe) {
    return fmt::format(
        R"({{"model": "GPT-2", {}, "global_batch": 8, "precision": "fp8", "parallel": {{"fp8_recipe": "{}"}}}})",
        kCompute, recipe);
  };
  CHECK(begins(problem_of(on_dgx(1, with("mxfp8"))), "no-such-recipe: GPU H100-SXM-80GB has no MXFP8"));
  const std::string unknown = problem_of(on_dgx(1, with("mxfp6")));
  CAPTURE(unknown);
  CHECK(unknown.find("mxfp6") != std::string::npos);
  const Folder folder;
  CHECK(athanor_run({"run", folder.write("s.json", on_dgx(1, with("blockwise")))}).code == 0);
  CHECK(
      athanor_run({"run", folder.write("s.json", on_dgx(1, with("mxfp8"))), "--set", "/cluster/node=DGX-B200"}).code ==
      0);
}

TEST_CASE("a step that the host cannot keep up with takes as long as its launches, and CUDA graphs need none") {
  const Folder folder;
  const auto time = [&](const char* execution, const char* launch) {
    const std::string training = fmt::format(
        R"({{"model": "GPT-2", "micro_batch": 1, "global_batch": 8, "sequence": 64,
             "parallel": {{"execution": "{}"}}, "compute": {{"launch": "{}"}}}})",
        execution, launch);
    return result_of(folder, on_dgx(1, training))["step_time_s"].get<double>();
  };
  const double ahead = time("fused", "0ns");
  CHECK(time("cuda_graphs", "50us") == ahead);
  const double behind = time("fused", "50us");
  CHECK(behind > 2 * ahead);
  CHECK(time("fused", "100us") == doctest::Approx(2 * behind).epsilon(0.1));
  CHECK(time("eager", "50us") > behind);
  const std::string model = R"({"model": "GPT-2", "global_batch": 8, "launch": "50us")";
  CHECK(begins(problem_of(on_dgx(1, model + R"(, "parallel": {"execution": "cuda_graphs"}})")), "no-effect"));
  const auto of = [&](const std::string& training) {
    return result_of(folder, on_dgx(1, training))["step_time_s"].get<double>();
  };
  CHECK(of(model + R"(, "sequence": 64})") > 2 * of(R"({"model": "GPT-2", "global_batch": 8, "sequence": 64})"));
}

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

TEST_CASE("what a step was measured with moves no result, and is an error where none was measured") {
  const Folder folder;
  const std::string with = R"("measured_with": {"software": "trainer", "framework": "nemo", "release": "25.02"},)";
  const std::string measured = gpt(R"({"tensor": 8})", R"("measured": "10s",)");
  CHECK(result_of(folder, on_dgx(1, gpt(R"({"tensor": 8})", R"("measured": "10s",)" + with))) ==
        result_of(folder, on_dgx(1, measured)));
  CHECK(begins(problem_of(on_dgx(1, gpt(R"({"tensor": 8})", with))), "nothing-measured"));
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

TEST_CASE("DualPipe's stages, which share their layers with another one, end whether gradients are overlapped or not") {
  const Folder folder;
  for (const char* overlap : {"true", "false"}) {
    CAPTURE(overlap);
    const nlohmann::json row = result_of(
        folder,
        on_dgx(4, gpt(fmt::format(R"({{"tensor": 8, "pipeline": 4, "schedule": "dual_pipe", "overlap_gradients": {}}})",
                                  overlap))));
    CHECK(row["breakdown"]["exposed_DP"].get<double>() > 0);
  }
}

TEST_CASE("slices of one track follow each other, and every track and process has a name") {
  const Folder folder;
  const std::string path = folder.path("t.json");
  const std::string scenario = on_dgx(
      2,
      gpt(R"({"tensor": 4, "pipeline": 2, "sharding": "parameters", "overlap_gradients": true, "overlap_tensor": true})"));
  REQUIRE(athanor_run({"run", folder.write("s.json", scenario), "--trace", path}).code == 0);
  std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> tracks;
  std::set<std::pair<int, int>> named;
  const nlohmann::json timeline = json_from(read_text_file(path));
  for (const nlohmann::json& event : timeline["traceEvents"]) {
    const std::pair<int, int> track{event["pid"].get<int>(), event.value("tid", 0)};
    if (event["ph"] == "M") { named.insert(event["name"] == "process_name" ? std::pair{track.first, -1} : track); }
    if (event["ph"] == "X") {
      tracks[track].emplace_back(event["ts"].get<double>(), event["ts"].get<double>() + event["dur"].get<double>());
    }
  }
  REQUIRE(tracks.size() > 4);
  for (auto& [track, slices] : tracks) {
    CHECK(named.contains(track));
    CHECK(named.contains({track.first, -1}));
    std::sort(slices.begin(), slices.end());
    for (std::size_t i = 1; i < slices.size(); ++i) { CHECK(slices[i].first >= slices[i - 1].second - 1e-6); }
  }
}

TEST_CASE("energy and rent stand beside a step where the preset or the scenario says what GPUs draw and cost") {
  const Folder folder;
  const nlohmann::json row = result_of(folder, on_dgx(8, gpt(R"({"tensor": 8, "pipeline": 8})")));
  const double step = row["step_time_s"];
  const double watts = 70 + (700 - 70) * row["breakdown"]["computing"].get<double>();
  CHECK(row["energy_j"].get<double>() == doctest::Approx(64 * watts * step));
  CHECK(row["tokens_per_j"].get<double>() == doctest::Approx(16 * 2048 / row["energy_j"].get<double>()));
  CHECK(row["cost_usd"][1].get<double>() == doctest::Approx(64 * step / 3600 * 5.0));
  CHECK_FALSE(row.contains("training_days"));
  const nlohmann::json own = result_of(
      folder, on_dgx(8, gpt(R"({"tensor": 8, "pipeline": 8})",
                            R"("costs": {"usd_per_gpu_hour": 3, "node_w": 2800, "pue": 1.5, "tokens": 32768000},)")));
  CHECK(own["node_energy_j"].get<double>() == doctest::Approx(8 * 2800 * step));
  CHECK(own["training_days"].get<double>() == doctest::Approx(1000 * step / 86400));
  CHECK(own["training_cost_usd"][0] == own["training_cost_usd"][1]);
  CHECK(own["energy_j"].get<double>() == doctest::Approx(1.5 * (row["energy_j"].get<double>() + 8 * 2800 * step)));
}

TEST_CASE("of the ideal profile it is said that collectives cost no software") {
  const auto notes = [](const std::string& profile, const std::string& plan) {
    const Folder folder;
    return text_of(result_of(folder, "{" + profile + on_dgx(1, gpt(plan)).substr(1))["notes"]);
  };
  constexpr const char* kSaid = "cost no software";
  const std::string ideal = R"("profile": "ideal", )";
  CHECK(notes(ideal, R"({"tensor": 8})").find(kSaid) != std::string::npos);
  CHECK(notes(ideal, R"({"tensor": 1, "data": 1})").find(kSaid) == std::string::npos);
  CHECK(notes("", R"({"tensor": 8})").find(kSaid) == std::string::npos);
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
  CHECK(begins(problem_of(on_dgx(1, gpt(R"({"tensor": 8, "recompute_layers": 4})"))),
               "conflict: only full recomputation goes by layers"));
  CHECK(begins(problem_of(on_dgx(1, gpt(R"({"tensor": 8, "recompute_modules": ["mlp"]})"))),
               "conflict: only selective recomputation goes by modules"));
  CHECK(begins(problem_of(on_dgx(1, gpt(R"({"tensor": 8, "recompute": "selective", "recompute_modules": ["mlps"]})"))),
               "unknown-name: "));
  CHECK(
      begins(problem_of(on_dgx(1, gpt(R"({"tensor": 8, "recompute": "selective", "recompute_modules": ["moe_act"]})"))),
             "plan-does-not-fit: recomputing moe_act needs experts, which GPT-3-175B has not"));
  CHECK(begins(problem_of(on_dgx(1, gpt(R"({"tensor": 8, "master_bytes": 3})"))),
               "out-of-range: a master copy has 4, 2 or no bytes, not 3"));
  CHECK(begins(problem_of(on_dgx(1, gpt(R"({"tensor": 8, "moment_bytes": 3})"))),
               "out-of-range: a moment has 4, 2 or 1 bytes, not 3"));
  CHECK(begins(problem_of(on_dgx(1, gpt(R"({"tensor": 8})", R"("expert_imbalance": 1.5,)"))),
               "out-of-range: an \"expert_imbalance\" of 1.5: the busiest of 1 expert ranks"));
  CHECK(begins(problem_of(on_dgx(1, gpt(R"({"tensor": 8})", R"("costs": {"gpu_w": 100, "gpu_idle_w": 200},)"))),
               "out-of-range: a GPU that does nothing draws more"));
}

TEST_CASE("a model that does not fit into memory is told, and refused where that is asked for") {
  const Folder folder;
  const nlohmann::json row = result_of(folder, on_dgx(1, gpt(R"({"tensor": 8})")));
  CHECK(row["memory_gb"].get<double>() > 80);
  CHECK(text_of(row["notes"]).find("does not fit into memory") != std::string::npos);
  CHECK(begins(problem_of(on_dgx(1, gpt(R"({"tensor": 8})", R"("strict": true,)"))), "out-of-memory: "));
}

TEST_CASE("layers whose activations are offloaded need less memory, and a link to the host") {
  const Folder folder;
  const auto memory = [&](const char* parallel) {
    return result_of(folder, on_dgx(1, gpt(parallel)))["memory_gb"].get<double>();
  };
  CHECK(memory(R"({"tensor": 8, "offload_layers": 48})") < memory(R"({"tensor": 8})"));
  CHECK(memory(R"({"tensor": 8, "recompute": "selective", "recompute_modules": ["layernorm", "mlp"]})") <
        memory(R"({"tensor": 8, "recompute": "selective", "recompute_modules": ["layernorm"]})"));
  const std::string flat = fmt::format(R"({{"cluster": {{"fabric": {{"kind": "torus", "dimensions": [2, 2, 2],
      "link": {{"rate": "10GB/s", "latency": "500ns"}}}}}}, "training": {}}})",
                                       gpt(R"({"tensor": 8, "offload_layers": 1})", R"("gpu": "H100-SXM-80GB",)"));
  CHECK(begins(problem_of(flat), "no-host-link: "));
  CHECK(begins(problem_of(on_dgx(1, fmt::format(R"({{"model": {{"layers": [{{"parameters": 1, "forward_flops": 1,
                 "output": 1}}]}}, "global_batch": 16, {}, "parallel": {{"offload_layers": 1}}}})",
                                                kCompute))),
               "no-effect: "));
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

TEST_CASE("a whole training is told in days, energy and rent, in units that people read") {
  const Folder folder;
  const std::string scenario =
      on_dgx(8, gpt(R"({"tensor": 8, "pipeline": 8})", R"("costs": {"usd_per_gpu_hour": 3, "tokens": 32768000000},)"));
  const Ran ran = athanor_run({"run", folder.write("s.json", scenario)});
  REQUIRE(ran.code == 0);
  CHECK(ran.says("#   whole training: "));
  CHECK(ran.says(" MWh, "));
  CHECK(ran.says(" at 3 USD per GPU-hour"));
}

TEST_CASE("one process for all GPUs takes longer than a process for each, by NCCL too, and stands alone") {
  const Folder folder;
  const auto resnet = [&](const std::string& parallel, const std::string& more = "") {
    return result_of(folder, on_dgx(1,
                                    fmt::format(R"({{"model": "ResNet-50", "micro_batch": 32, "global_batch": 256,
                                                       "precision": "fp16", "parallel": {}}})",
                                                parallel),
                                    more));
  };
  for (const char* profile : {"", R"("profile": "nccl-h100-nvswitch",)"}) {
    const nlohmann::json single = resnet(R"({"single_process": true})", profile);
    const nlohmann::json each = resnet(R"({"bucket": "25MB", "overlap_gradients": true})", profile);
    CHECK(single["step_time_s"] > each["step_time_s"]);
    CHECK(single["breakdown"]["exposed_DP"] > each["breakdown"]["exposed_DP"]);
  }
  CHECK(
      begins(problem_of(on_dgx(1, gpt(R"({"single_process": true, "tensor": 8})"))), "conflict: one process has all"));
}

TEST_CASE("a step says how many steps of its collectives' loops had only settled, where the user allows an error") {
  const Folder folder;
  const std::string file = folder.write(
      "s.json",
      R"({"cluster": {"node": "DGX-H100", "nodes": 128, "fabric": {"kind": "rail_optimized", "switch": "QM9700"}},
                    "training": {"model": "Llama-3.1-8B", "micro_batch": 1, "global_batch": 1024, "sequence": 2048,
                                 "parallel": {"data": 1024, "framework": "fsdp2"}}})");
  const Ran exact = athanor_run({"run", file, "--json"});
  const Ran settled = athanor_run({"run", file, "--set", "/network/skip_error=0.05", "--json"});
  CAPTURE(settled.out);
  const std::string note = "steps of a loop had settled and were multiplied: about 5 % of error at most";
  CHECK_FALSE(exact.says(note));
  CHECK(settled.says(note));
  const auto step = [](const Ran& ran) { return ran.json()["results"][0]["step_time_s"].get<double>(); };
  CHECK(step(settled) == doctest::Approx(step(exact)).epsilon(0.05));
}
