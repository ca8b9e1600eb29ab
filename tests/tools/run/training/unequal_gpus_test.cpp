// A training on nodes of two kinds: times, energy and rent, and what is said of them.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// Two layers of 989e9 operations a sample forward and twice that backward; peaks are those of the presets.
std::string on_nodes(const std::string& nodes, const std::string& model, const std::string& more = "") {
  return fmt::format(
      R"({{"cluster": {{"nodes": {}, "fabric": {{"kind": "star", "link": {{"rate": "25GB/s", "latency": "1us"}}}}}},
           "training": {{"model": {}, "global_batch": 16,
                         "compute": {{"gemm": {{"share": 1, "depth": 0}}, "attention": 1, "memory": 1}} {}}}}})",
      nodes, model, more);
}

constexpr const char* kBoth = R"([{"node": "DGX-H100", "count": 1}, {"node": "DGX-A100", "count": 1}])";
constexpr const char* kLayers = R"({"layers": [{"parameters": 0, "forward_flops": 989000000000, "output": 1},
                                               {"parameters": 0, "forward_flops": 989000000000, "output": 1}]})";

}  // namespace

// An H100 computes its sample in 6 ms by 989 TFLOP/s, an A100 in 6 ms x 989 / 312. Rents and watts are the presets':
// 700 and 70 W, 400 and 50 W.
TEST_CASE("the faster GPUs wait for the slower ones, and draw and cost what theirs do") {
  const nlohmann::json row = result_of(on_nodes(kBoth, kLayers));
  const double step = row["step_time_s"];
  CHECK(step == doctest::Approx(6e-3 * 989 / 312).epsilon(1e-3));
  CHECK(row["gpu"] == "H100-SXM-80GB and A100-SXM-80GB");
  const nlohmann::json& kinds = row["gpu_kinds"];
  REQUIRE(kinds.size() == 2);
  CHECK(kinds[0]["gpus"] == 8);
  CHECK(kinds[0]["computing"].get<double>() == doctest::Approx(312.0 / 989).epsilon(1e-3));
  CHECK(kinds[1]["gpu"] == "A100-SXM-80GB");
  CHECK(kinds[1]["computing"].get<double>() == doctest::Approx(1).epsilon(1e-3));
  const nlohmann::json h100 = result_of(on_nodes(R"([{"node": "DGX-H100", "count": 2}])", kLayers));
  const nlohmann::json a100 = result_of(on_nodes(R"([{"node": "DGX-A100", "count": 2}])", kLayers));
  CHECK_FALSE(h100.contains("gpu_kinds"));
  // Alone both always compute, so that a second of eight costs half of what sixteen do.
  const auto rate = [](const nlohmann::json& alone, const char* key) {
    return alone[key].get<double>() / alone["step_time_s"].get<double>() / 2;
  };
  const double idle = 70 * 8;
  const double most = rate(h100, "energy_j");
  CHECK(row["energy_j"].get<double>() ==
        doctest::Approx(step * (idle + (most - idle) * 312 / 989 + rate(a100, "energy_j"))).epsilon(1e-3));
  const auto rent = [](const nlohmann::json& alone) {
    return alone["cost_usd"][0].get<double>() / alone["step_time_s"].get<double>() / 2;
  };
  CHECK(row["cost_usd"][0].get<double>() == doctest::Approx(step * (rent(h100) + rent(a100))));
}

TEST_CASE("what is printed names all GPUs and counts samples where there are no tokens") {
  const Folder folder;
  const Ran ran = athanor_run({"run", folder.write("s.json", on_nodes(kBoth, kLayers))});
  CHECK(ran.code == 0);
  CHECK(ran.says("on 8 H100-SXM-80GB and 8 A100-SXM-80GB: data 16"));
  CHECK(ran.says("#   computing by GPU: H100-SXM-80GB 31.5 %, A100-SXM-80GB 100.0 %"));
  CHECK(ran.says("samples  TFLOP/s"));
  CHECK_FALSE(result_of(on_nodes(kBoth, kLayers)).contains("tokens_per_s"));
}

TEST_CASE("a plan has to fit into the memory of the smallest GPU") {
  const Folder folder;
  const std::string large = R"([{"node": "DGX-H200", "count": 1}, {"node": "DGX-A100", "count": 1}])";
  const std::string scenario = on_nodes(large, R"("Llama-3.1-8B")", R"(, "sequence": 2048)");
  const Ran ran = athanor_run({"plan", folder.write("s.json", scenario), "--top", "1"});
  CAPTURE(ran.out);
  CAPTURE(ran.err);
  CHECK(ran.says("of A100-SXM-80GB less"));
}
