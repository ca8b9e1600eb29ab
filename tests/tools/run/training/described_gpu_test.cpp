// A training on GPUs that the scenario describes: what acts on the step, on its energy, and what is refused.
#include <cmath>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

constexpr const char* kExact = R"("compute": {"gemm": {"share": 1, "depth": 0}, "attention": 1, "memory": 1},)";

/// One layer of 989e9 operations forward and twice that backward, on two nodes with these GPUs.
std::string on(const std::string& gpu, const std::string& more = kExact) {
  return fmt::format(
      R"({{"cluster": {{"node": {{"preset": "DGX-H100", "gpu": {}}}, "nodes": 2, "fabric": {{"kind": "star", "switch": "QM9700"}}}},
           "training": {{"model": {{"layers": [{{"parameters": 0, "forward_flops": 989000000000, "output": 1}}]}},
                         {} "global_batch": 16}}}})",
      gpu, more);
}

std::string refused(const std::string& scenario) {
  const Folder folder;
  const Ran ran = athanor_run({"run", folder.write("s.json", scenario)});
  CHECK(ran.code == 3);
  return ran.err;
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a described GPU computes at its own rate") {
  const double preset = result_of(on("\"H100-SXM-80GB\""))["step_time_s"];
  const auto step = [](const std::string& gpu) { return result_of(on(gpu))["step_time_s"].get<double>(); };
  CHECK(preset == doctest::Approx(3e-3).epsilon(1e-3));
  CHECK(step(R"({"preset": "H100-SXM-80GB"})") == preset);
  CHECK(step(R"({"preset": "H100-SXM-80GB", "tflops": {"bf16": 1978}})") == doctest::Approx(preset / 2).epsilon(1e-3));
  CHECK(step(R"({"memory": "80GB", "memory_bandwidth": "3350GB/s", "tflops": {"bf16": 989}, "pcie": "pcie5x16",
                 "nvlink": "nvlink4", "nvlinks": 18, "multiprocessors": 132})") == preset);
}

TEST_CASE("a power limit slows products down and saves energy, and that is said; rates that are given stand") {
  const nlohmann::json full = result_of(on("\"H100-SXM-80GB\""));
  const nlohmann::json limited = result_of(on(R"({"preset": "H100-SXM-80GB", "power": "500W"})"));
  const double clock = std::cbrt((500.0 - 70) / (700 - 70));
  CHECK(limited["step_time_s"].get<double>() ==
        doctest::Approx(full["step_time_s"].get<double>() / clock).epsilon(1e-3));
  // All always compute: 500 of 700 W, for so much longer.
  CHECK(limited["energy_j"].get<double>() ==
        doctest::Approx(full["energy_j"].get<double>() * 5 / 7 / clock).epsilon(1e-3));
  const nlohmann::json given =
      result_of(on(R"({"preset": "H100-SXM-80GB", "power": "500W", "tflops": {"bf16": 989}})"));
  CHECK(given["step_time_s"] == full["step_time_s"]);
  CHECK(limited["gpu"] == "changed H100-SXM-80GB");
  const Folder folder;
  const Ran ran = athanor_run(
      {"run", folder.write("s.json", on(R"({"preset": "H100-SXM-80GB", "power": "500W", "name": "capped"})"))});
  CHECK(ran.says("capped is limited to 500 W of 700 W: products and attention run at 0.88 of the rates"));
}

TEST_CASE(
    "without a compute profile a changed GPU takes what the pool tells of its generation, and is extrapolated where it "
    "computes otherwise") {
  const auto says = [](const std::string& gpu) {
    const Folder folder;
    return athanor_run({"run", folder.write("s.json", on(gpu, ""))}).says("extrapolated");
  };
  CHECK_FALSE(says(R"({"preset": "H100-SXM-80GB", "memory": "96GB", "power": "500W"})"));
  CHECK(says(R"({"preset": "H100-SXM-80GB", "tflops": {"bf16": 1200}})"));
  CHECK(says(R"({"preset": "H100-SXM-80GB", "memory_bandwidth": "4TB/s"})"));
  // One from nothing is taken for what others reach of their peaks.
  CHECK(says(R"({"memory": "80GB", "memory_bandwidth": "3TB/s", "tflops": {"bf16": 60}, "pcie": "pcie5x16",
                 "nvlink": "nvlink4", "nvlinks": 18, "name": "Chip"})"));
}

TEST_CASE("described GPUs are told apart in a mixture, and \"gpu\" of a training describes one, too") {
  const std::string mixed =
      R"({"cluster": {"nodes": [{"node": "DGX-H100", "count": 1},
                                {"node": {"preset": "DGX-H100", "gpu": {"preset": "H100-SXM-80GB", "name": "half",
                                                                        "tflops": {"bf16": 494.5}}}, "count": 1}],
                      "fabric": {"kind": "star", "switch": "QM9700"}},
          "training": {"model": {"layers": [{"parameters": 0, "forward_flops": 989000000000, "output": 1}]},)" +
      std::string(kExact) + R"("global_batch": 16}})";
  const nlohmann::json row = result_of(mixed);
  CHECK(row["gpu"] == "H100-SXM-80GB and half");
  CHECK(row["step_time_s"].get<double>() == doctest::Approx(6e-3).epsilon(1e-3));
  const nlohmann::json own = result_of(on(
      "\"H100-SXM-80GB\"", std::string(kExact) + R"("gpu": {"preset": "H100-SXM-80GB", "tflops": {"bf16": 494.5}},)"));
  CHECK(own["step_time_s"].get<double>() == doctest::Approx(6e-3).epsilon(1e-3));
}

TEST_CASE("a GPU that lacks what training needs is refused by each figure's name") {
  const std::string error = refused(on(R"({"pcie": "pcie5x16", "nvlink": "nvlink4", "nvlinks": 18, "name": "Chip"})"));
  for (const char* figure : {"memory", "memory_bandwidth", "tflops"}) {
    CHECK(holds(error, fmt::format("training needs \"{}\" of Chip", figure)));
  }
  const std::string chip =
      R"({"memory": "80GB", "memory_bandwidth": "3TB/s", "tflops": {"fp32": 60}, "pcie": "pcie5x16",
                              "nvlink": "nvlink4", "nvlinks": 18, "name": "Chip"})";
  CHECK(holds(refused(on(chip)), "GPU Chip does not multiply in bf16: it has fp32"));
  CHECK(holds(refused(on(R"({"preset": "H100-SXM-80GB", "power": "500W"})",
                         std::string(kExact) + R"("costs": {"gpu_w": 600},)")),
              "say the same"));
}
