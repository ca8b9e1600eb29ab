#include <doctest/doctest.h>
#include <fmt/core.h>

#include "sim/file.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// GPT of two layers, on one to four nodes, of products that are limited by computing and kernels that are by memory.
std::string steps(const std::string& compute, const std::vector<double>& measured) {
  std::string cases;
  std::size_t i = 0;
  for (const int hidden : {1024, 4096, 8192}) {
    for (const int nodes : {1, 4}) {
      const std::string seconds = i < measured.size() ? fmt::format(R"(, "measured": "{:.9f}s")", measured[i]) : "";
      cases += fmt::format(
          R"({}{{"name": "h {}, {} nodes", "cluster": {{"nodes": {}}}, "training": {{"global_batch": {}, "model":
             {{"preset": "GPT-3-175B", "layers": 2, "hidden": {}, "ffn": {}, "attention": {{"heads": 32}}}}{}}}}})",
          i == 0 ? "" : ", ", hidden, nodes, nodes, 8 * nodes, hidden, 4 * hidden, seconds);
      ++i;
    }
  }
  return fmt::format(
      R"({{"cluster": {{"node": "DGX-H100", "fabric": {{"kind": "star", "switch": "QM9700"}}}},
          "training": {{"sequence": 2048, "compute": {}, "parallel": {{"overlap_gradients": true}}}}, "cases": [{}]}})",
      compute, cases);
}

/// The same steps, said to be of two releases of one software.
std::string measured_with(std::string scenario) {
  nlohmann::json json = nlohmann::json::parse(scenario);
  json["training"]["measured_with"] = {{"software", "trainer"}, {"framework", "nemo"}, {"release", "25.02"}};
  json["cases"][0]["training"]["measured_with"] = {{"release", "24.11"}};
  return json.dump();
}

constexpr const char* kTruth = R"({"gemm": {"share": 0.62, "depth": 240}, "memory": 0.7, "straggler_growth": 0.01})";
constexpr const char* kStart =
    R"({"name": "start", "gemm": {"share": 0.8, "depth": 240}, "memory": 0.9, "straggler_growth": 0.004})";

}  // namespace

// The start is a fifth off in the share of the peak and of the bandwidth; what few steps do not tell stays near it.
TEST_CASE("a fit finds what makes steps take as long as they did, and judges those that it has not seen") {
  const Folder folder;
  const Ran made = athanor_run({"run", folder.write("made.json", steps(kTruth, {})), "--json"});
  REQUIRE(made.code == 0);
  std::vector<double> times;
  const nlohmann::json results = made.json()["results"];
  for (const auto& row : results) { times.push_back(row["step_time_s"]); }
  REQUIRE(times.size() == 6);

  const std::string found = folder.path("found.json");
  const Ran fit = athanor_run({"calibrate", "--backend", "training", "--tables",
                               folder.write("measured.json", measured_with(steps(kStart, times))), "--free",
                               "gemm.share,memory,straggler_growth", "--hold-out", "rows", "-o", found});
  CAPTURE(fit.err);
  REQUIRE(fit.code == 0);
  const nlohmann::json profile = nlohmann::json::parse(read_text_file(found));
  CHECK(profile["gemm"]["share"].get<double>() == doctest::Approx(0.62).epsilon(0.06));
  CHECK(profile["memory"].get<double>() == doctest::Approx(0.7).epsilon(0.08));
  CHECK(profile["fitted"]["software"] == nlohmann::json({"trainer 24.11", "trainer 25.02"}));
  CHECK(profile["fitted"]["frameworks"] == nlohmann::json({"nemo"}));
  CHECK(profile["fitted"]["errors"]["fitted"]["p90"].get<double>() < 0.015);
  CHECK(profile["fitted"]["errors"]["rows_held_out"]["steps"] == 6);
  CHECK(profile["fitted"]["errors"]["rows_held_out"]["p90"].get<double>() < 0.03);
}

namespace {

/// GPT of eight layers on a pipeline of four stages, of one chunk each or two.
std::string piped_steps(const std::string& compute, const std::vector<double>& measured) {
  std::string cases;
  std::size_t i = 0;
  for (const char* schedule : {R"("schedule": "1f1b")", R"("schedule": "interleaved", "virtual_stages": 2)"}) {
    for (const int batch : {32, 64}) {
      const std::string seconds = i < measured.size() ? fmt::format(R"(, "measured": "{:.9f}s")", measured[i]) : "";
      cases +=
          fmt::format(R"({}{{"name": "{}", "training": {{"global_batch": {}, "parallel": {{"pipeline": 4, {}}}{}}}}})",
                      i == 0 ? "" : ", ", i, batch, schedule, seconds);
      ++i;
    }
  }
  return fmt::format(
      R"({{"cluster": {{"node": "DGX-H100", "nodes": 1}}, "training": {{"model": {{"preset": "GPT-3-175B", "layers": 8,
          "hidden": 2048, "ffn": 8192, "attention": {{"heads": 16}}}}, "sequence": 2048, "compute": {}}}, "cases": [{}]}})",
      compute, cases);
}

}  // namespace

TEST_CASE("a fit finds what the host takes before passes from pipelines of one chunk and of two") {
  const Folder folder;
  const std::string truth = R"({"gemm": {"share": 0.62, "depth": 240}, "pass_overhead": "400us"})";
  const Ran made = athanor_run({"run", folder.write("made.json", piped_steps(truth, {})), "--json"});
  REQUIRE_MESSAGE(made.code == 0, made.err);
  std::vector<double> times;
  const nlohmann::json results = made.json()["results"];
  for (const auto& row : results) { times.push_back(row["step_time_s"]); }
  const std::string found = folder.path("found.json");
  const std::string start = R"({"name": "start", "gemm": {"share": 0.7, "depth": 240}})";
  const Ran fit = athanor_run({"calibrate", "--backend", "training", "--tables",
                               folder.write("measured.json", piped_steps(start, times)), "--free",
                               "gemm.share,pass_overhead", "-o", found});
  REQUIRE_MESSAGE(fit.code == 0, fit.err);
  const nlohmann::json profile = nlohmann::json::parse(read_text_file(found));
  CHECK(profile["gemm"]["share"].get<double>() == doctest::Approx(0.62).epsilon(0.03));
  const std::string overhead = profile["pass_overhead"];  // "401.2us"
  CHECK(std::stod(overhead) == doctest::Approx(400).epsilon(0.1));
  CHECK(overhead.ends_with("us"));
}

TEST_CASE("what no step tells is not found") {
  const Folder folder;
  const Ran fit = athanor_run({"calibrate", "--backend", "training", "--tables",
                               folder.write("measured.json", steps(kStart, {1, 1, 1, 1, 1, 1})), "--free",
                               "pass_overhead", "-o", folder.path("found.json")});
  CHECK(fit.code == 2);
  CHECK(fit.err.find("none of these does") != std::string::npos);
}
