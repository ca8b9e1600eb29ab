// Trainings on machines that are not alike, as scenarios say them: stragglers, uneven layers and batches, two sites.
#include <algorithm>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

constexpr double kLayer = 3e-3;          // seconds of an H100 for a layer forward and backward
constexpr double kSlower = 989.0 / 312;  // A100 to H100, by their peaks
constexpr const char* kMixed = R"([{"node": "DGX-H100", "count": 1}, {"node": "DGX-A100", "count": 1}])";
constexpr const char* kAlike = R"([{"node": "DGX-H100", "count": 2}])";

/// So many layers of 989e9 operations a sample forward and twice that backward.
std::string layers(std::uint32_t count) {
  std::string all;
  for (std::uint32_t i = 0; i < count; ++i) {
    all += fmt::format(R"({}{{"parameters": 0, "forward_flops": 989000000000, "output": 1}})", i == 0 ? "" : ", ");
  }
  return fmt::format(R"({{"layers": [{}]}})", all);
}

/// `more`: keys of "training"; `parallel`: of its plan.
std::string scenario_on(const std::string& nodes, std::uint32_t count, const std::string& parallel,
                        const std::string& more) {
  return fmt::format(
      R"({{"cluster": {{"nodes": {}, "fabric": {{"kind": "star", "link": {{"rate": "25GB/s", "latency": "1us"}}}}}},
           "training": {{"model": {}, "compute": {{"gemm": {{"share": 1, "depth": 0}}, "attention": 1, "memory": 1}},
                         "parallel": {{{}}}, {}}}}})",
      nodes, layers(count), parallel, more);
}

std::string code_of(const std::string& scenario) {
  const Folder folder;
  const nlohmann::json problem = problem_of(folder, scenario);
  CAPTURE(problem.dump());
  return problem["code"];
}

bool notes(const nlohmann::json& row, const std::string& text) {
  return std::any_of(row["notes"].begin(), row["notes"].end(), [&](const nlohmann::json& note) {
    return note.get<std::string>().find(text) != std::string::npos;
  });
}

}  // namespace

// 76 of 100 layers take an H100 76 units, the other 24 an A100 76.08.
TEST_CASE("layers are divided over stages by the speed of their GPUs, and the step is that of the slower stage") {
  const std::string balanced = R"("pipeline": 2, "balance": "layers")";
  const nlohmann::json row = result_of(scenario_on(kMixed, 100, balanced, R"("global_batch": 64)"));
  CHECK(row["layers_of_stages"] == nlohmann::json({76, 24}));
  CHECK(row["step_time_s"].get<double>() == doctest::Approx(kLayer * (76 + 8 * 24 * kSlower)).epsilon(1e-3));
  CHECK(notes(row, "balance: 76, 24 layers on the stages"));
  const nlohmann::json even = result_of(scenario_on(kMixed, 100, R"("pipeline": 2)", R"("global_batch": 64)"));
  CHECK_FALSE(even.contains("layers_of_stages"));
  CHECK(even["step_time_s"].get<double>() == doctest::Approx(kLayer * (50 + 8 * 50 * kSlower)).epsilon(1e-3));
  const std::string written = R"("pipeline": 2, "layers": [76, 24])";
  CHECK(result_of(scenario_on(kMixed, 100, written, R"("global_batch": 64)"))["step_time_s"] == row["step_time_s"]);
}

TEST_CASE("a batch is divided over copies by the speed of their GPUs, and the step is that of the slower copies") {
  const nlohmann::json row = result_of(scenario_on(kMixed, 1, R"("balance": "batch")", R"("global_batch": 200)"));
  nlohmann::json expected;
  for (int copy = 0; copy < 16; ++copy) { expected.push_back(copy < 8 ? 19 : 6); }
  CHECK(row["micro_batches_of_copies"] == expected);
  CHECK(row["step_time_s"].get<double>() == doctest::Approx(kLayer * 6 * kSlower).epsilon(1e-3));
  CHECK(row["gpu_kinds"][0]["computing"].get<double>() == doctest::Approx(19 / (6 * kSlower)).epsilon(1e-3));
  const std::string written = R"("micro_batches": [19,19,19,19,19,19,19,19,6,6,6,6,6,6,6,6])";
  CHECK(result_of(scenario_on(kMixed, 1, written, R"("global_batch": 200)"))["step_time_s"] == row["step_time_s"]);
}

TEST_CASE("where GPUs are alike a balance changes nothing, and says so") {
  const nlohmann::json by_layer =
      result_of(scenario_on(kAlike, 8, R"("pipeline": 2, "balance": "layers")", R"("global_batch": 64)"));
  CHECK_FALSE(by_layer.contains("layers_of_stages"));
  CHECK(notes(by_layer, "as many layers on each stage are the best already"));
  const nlohmann::json by_batch = result_of(scenario_on(kAlike, 1, R"("balance": "batch")", R"("global_batch": 64)"));
  CHECK_FALSE(by_batch.contains("micro_batches_of_copies"));
  CHECK(notes(by_batch, "as many micro-batches for each copy are the best already"));
}

TEST_CASE("one slow GPU makes the step as long as it takes") {
  const std::string slow = R"("global_batch": 64, "stragglers": [{"ranks": [5], "slower": 1.5}])";
  const nlohmann::json row = result_of(scenario_on(kAlike, 2, R"("data": 16)", slow));
  CHECK(row["step_time_s"].get<double>() == doctest::Approx(1.5 * 4 * 2 * kLayer).epsilon(1e-3));
  CHECK(row["gpu_kinds"][1]["gpu"] == "H100-SXM-80GB slowed by 1.5");
  CHECK(row["gpu_kinds"][1]["gpus"] == 1);
  CHECK(notes(row, "stragglers: 1 GPU takes 1.5 times as long to compute"));
  const std::string node = R"("global_batch": 64, "stragglers": [{"nodes": [1], "slower": 2}])";
  const nlohmann::json of_node = result_of(scenario_on(kAlike, 2, R"("data": 16)", node));
  CHECK(of_node["gpu_kinds"][1]["gpus"] == 8);
  CHECK(of_node["step_time_s"].get<double>() == doctest::Approx(2 * 4 * 2 * kLayer).epsilon(1e-3));
}

namespace {

/// Hosts with a GPU each on two sites, whose switches a link of 1 GB/s and 1 ms joins, in two halves.
nlohmann::json on_two_sites(std::uint32_t copies, std::uint32_t micro_batches, std::uint32_t elements,
                            const std::string& order) {
  return result_of(fmt::format(
      R"({{"cluster": {{"nodes": {}, "fabric": {{"kind": "fat_tree", "hosts_per_leaf": {}, "leaves": 2, "spines": 1,
             "link": {{"rate": "100GB/s", "latency": "1us"}}, "uplink": {{"rate": "1GB/s", "latency": "500us"}}}}}},
           "profile": "ideal",
           "training": {{"model": {{"layers": [
             {{"parameters": 0, "forward_flops": 1978000000000, "output": {}}},
             {{"parameters": 0, "forward_flops": 1978000000000, "output": 1}}]}},
             "gpu": "H100-SXM-80GB", "global_batch": {},
             "compute": {{"gemm": {{"share": 1, "depth": 0}}, "attention": 1, "memory": 1}},
             "parallel": {{"pipeline": 2, "order": "{}"}}}}}})",
      2 * copies, copies, elements, copies * micro_batches, order));
}

}  // namespace

// Stage 0 has two micro-batches under way: the way there and back is waited for after every second one.
TEST_CASE("a pipeline over a thin link takes (m + 1) (F + B) and twice the link for every second micro-batch") {
  constexpr double kPass = 6e-3;
  for (const std::uint32_t copies : {1U, 4U}) {
    for (const std::uint32_t m : {1U, 2U, 3U, 8U, 9U}) {
      CAPTURE(copies);
      CAPTURE(m);
      const double message = 1.002e-3 + copies * 200e3 / 1e9;  // copies share the link
      const nlohmann::json row = on_two_sites(copies, m, 100'000, "tp-cp-ep-dp-pp");
      CHECK(row["step_time_s"].get<double>() ==
            doctest::Approx((m + 1) * kPass + 2 * message * ((m + 1) / 2)).epsilon(1e-5));
    }
  }
  // Copies across the link in place of stages: nothing but the pipeline's own messages, which stay on a site.
  const double inside = 2e-6 + 200e3 / 100e9;
  CHECK(on_two_sites(2, 4, 100'000, "tp-cp-ep-pp-dp")["step_time_s"].get<double>() ==
        doctest::Approx(5 * kPass + 4 * inside).epsilon(1e-5));
}

TEST_CASE("shares that do not fit the plan are refused") {
  const std::string batch = R"("global_batch": 32)";
  const auto with = [&](const std::string& parallel) { return code_of(scenario_on(kAlike, 4, parallel, batch)); };
  CHECK(with(R"("micro_batches": [1, 1])") == "micro-batches-do-not-fit");
  CHECK(with(R"("pipeline": 2, "tensor": 1, "data": 2, "micro_batches": [10, 10])") == "micro-batches-do-not-fit");
  CHECK(with(R"("data": 2, "micro_batches": [0, 32])") == "out-of-range");
  CHECK(with(R"("data": 2, "micro_batches": [12, 20], "sharding": "parameters")") == "conflict");
  CHECK(with(R"("data": 2, "micro_batches": [12, 20], "balance": "batch")") == "conflict");
  CHECK(with(R"("pipeline": 2, "layers": [2, 2], "balance": "layers")") == "conflict");
  CHECK(with(R"("pipeline": 2, "layers": [4])") == "layers-do-not-fit");
  CHECK(with(R"("pipeline": 2, "layers": [2, 3])") == "layers-do-not-fit");
  CHECK(with(R"("pipeline": 4, "layers": [2, 0, 1, 1])") == "stage-without-layers");
  CHECK(with(R"("balance": "layers")") == "no-effect");
  CHECK(with(R"("pipeline": 2, "data": 1, "balance": "batch")") == "no-effect");
  CHECK(with(R"("pipeline": 2, "virtual_stages": 2, "schedule": "interleaved", "balance": "layers")") == "conflict");
  CHECK(with(R"("balance": "speed")") == "unknown-name");
  CHECK(with(R"("pipeline": 2, "data": 2, "schedule": "dual_pipe", "micro_batches": [12, 20], "balances": "x")") ==
        "unknown-key");
}

TEST_CASE("stragglers that are none of the training are refused") {
  const auto with = [&](const std::string& stragglers) {
    return code_of(scenario_on(kAlike, 2, R"("data": 8)", R"("global_batch": 32, "stragglers": [)" + stragglers + "]"));
  };
  CHECK(with(R"({"ranks": [8], "slower": 2})") == "no-such-rank");
  CHECK(with(R"({"nodes": [1], "slower": 2})") == "no-such-rank");
  CHECK(with(R"({"nodes": [0], "ranks": [0], "slower": 2})") == "conflict");
  CHECK(with(R"({"slower": 2})") == "conflict");
  CHECK(with(R"({"ranks": [0], "slower": 0.5})") == "out-of-range");
  CHECK(with(R"({"ranks": [0]})") == "missing-key");
  CHECK(with(R"({"ranks": [0], "slower": 2}, {"nodes": [0], "slower": 3})") == "duplicate-name");
}

TEST_CASE("GPUs of two vendors have no NCCL in common") {
  const std::string both = R"([{"node": "DGX-H100", "count": 1}, {"node": "HGX-MI300X", "count": 1}])";
  std::string scenario = scenario_on(both, 2, R"("data": 16)", R"("global_batch": 16)");
  scenario.insert(1, R"("profile": "nccl-h100-ib-dgx", )");
  CHECK(code_of(scenario) == "profile-mismatch");
}

// Streams of unlike ranks come to the calls of one communicator in different orders; their programs say which belong
// together.
TEST_CASE("gathers and reductions of sharded parameters wait for a slow GPU, and exchanges of experts do") {
  const Folder folder;
  const auto step = [&](const char* slower, const char* model, const char* parallel) {
    return result_of(folder,
                     fmt::format(R"({{"profile": "ideal", "cluster": {{"node": "DGX-H100", "nodes": 1}}, "training": {{
      "model": {{"layers": 4, "hidden": 512, "attention": {{"heads": 8}}, "ffn": 2048, "vocabulary": 8000{}}}, "global_batch": 8,
      "sequence": 1024, "stragglers": [{{"ranks": [0], "slower": {}}}], "parallel": {{{}}}}}}})",
                                 model, slower, parallel))["step_time_s"]
        .get<double>();
  };
  CHECK(step("1.5", "", R"("sharding": "parameters")") > step("1", "", R"("sharding": "parameters")"));
  const char* const experts = R"(, "experts": {"experts": 32, "top_k": 4, "ffn": 512})";
  const char* const deep = R"("expert": 8, "experts": {"kind": "deep_ep"})";
  CHECK(step("1.5", experts, deep) > step("1", experts, deep));
}
