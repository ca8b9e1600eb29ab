// A group of a step or a trace is a collective like any other: it has the same engines, and takes as long.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

constexpr const char* kCluster =
    R"("cluster": {"node": "DGX-H100", "nodes": 4, "fabric": {"kind": "rail_optimized", "switch": "QM9700"}})";
constexpr const char* kSharp = R"("network": {"aggregation": {"engine": "sharp_v3"}},)";
constexpr const char* kNccl = R"("profile": "nccl-hopper-ib",)";
constexpr const char* kCollNet = R"("nccl": {"environment": {"NCCL_COLLNET_ENABLE": "1"}},)";

/// Of a step that computes next to nothing, and whose ranks add up 8 GB of gradients at its end.
double of_step(const std::string& more, const std::string& parallel = "{}") {
  return result_of(fmt::format(R"({{{}, {} "training": {{"global_batch": 32, "model": {{"layers":
      [{{"parameters": 2000000000, "forward_flops": 1, "output": 1000}}]}}, "parallel": {},
      "compute": {{"gemm": {{"share": 1, "depth": 0}}, "attention": 1, "memory": 1}}}}}})",
                               kCluster, more, parallel))["exposed_comm_s"]
      .get<double>();
}

/// The same as a collective alone.
double alone(const std::string& more, const std::string& how = "") {
  return result_of(fmt::format(R"({{{}, {} "collective": {{"kind": "all_reduce", {} "sizes": "8GB"}}}})", kCluster,
                               more, how))["time_us"]
             .get<double>() *
         1e-6;
}

}  // namespace

TEST_CASE("a step whose only communication is one all-reduce takes exactly what the collective alone takes") {
  for (const std::string& more : {std::string(kNccl), std::string(kNccl) + kSharp + kCollNet}) {
    CAPTURE(more);
    CHECK(of_step(more) == doctest::Approx(alone(more)).epsilon(1e-9));
  }
}

TEST_CASE("CollNet serves the groups of a step as it serves a collective, and without engines it does not") {
  const double with = of_step(std::string(kNccl) + kSharp + kCollNet);
  CHECK(with < 0.9 * of_step(kNccl));
  CHECK(of_step(std::string(kNccl) + kCollNet) == doctest::Approx(of_step(kNccl)));
}

TEST_CASE("without NCCL the groups of a step take engines where these are faster than rings") {
  const double sharp = alone(
      kSharp, R"("channels": 8, "algorithm": ["aggregation_tree", "nvls_sharp", "collnet_direct", "collnet_chain"],)");
  const double ring = of_step("");
  CHECK(of_step(kSharp) < 0.6 * ring);
  CHECK(of_step(kSharp) == doctest::Approx(sharp).epsilon(0.005));
}

TEST_CASE("NICs carry out the collectives of a step, too") {
  const std::string profile = R"("profile": {"launch": "500us", "protocols": [{"name": "MPI", "overhead": "1us"}]},)";
  const std::string offload = R"("network": {"offload": {"post": "1us"}},)";
  const double saved = of_step(profile) - of_step(profile + offload);
  CHECK(saved == doctest::Approx(499e-6).epsilon(1e-6));
}

TEST_CASE("each of unequal GPUs computes at its own speed, and all wait for the slowest") {
  const auto step = [](const std::string& nodes, const std::string& parallel) {
    return result_of(fmt::format(R"({{"cluster": {{"nodes": {}, "fabric": {{"kind": "star", "link":
        {{"rate": "100GB/s", "latency": "1ns"}}}}}}, "training": {{"global_batch": 32, "model": {{"layers":
        [{{"parameters": 1, "forward_flops": 1e15, "output": 1}}, {{"parameters": 1, "forward_flops": 1e15,
        "output": 1}}]}}, "parallel": {},
        "compute": {{"gemm": {{"share": 1, "depth": 0}}, "attention": 1, "memory": 1}}}}}})",
                                 nodes, parallel));
  };
  const std::string h100 = R"({"node": "DGX-H100", "count": 1})";
  const std::string a100 = R"({"node": "DGX-A100", "count": 1})";
  const nlohmann::json fast = step("[" + h100 + ", " + h100 + "]", "{}");
  const nlohmann::json slow = step("[" + a100 + ", " + a100 + "]", "{}");
  for (const std::string& nodes : {"[" + h100 + ", " + a100 + "]", "[" + a100 + ", " + h100 + "]"}) {
    const nlohmann::json mixed = step(nodes, "{}");
    CHECK(mixed["step_time_s"].get<double>() == doctest::Approx(slow["step_time_s"].get<double>()).epsilon(1e-3));
    CHECK(mixed["mfu"].get<double>() < slow["mfu"].get<double>());
    CHECK(mixed["gpu"] == fast["gpu"].get<std::string>() + " and " + slow["gpu"].get<std::string>());
    // Stage by stage: one of H100 and one of A100, with one micro-batch one after the other.
    const std::string stages = R"({"pipeline": 2, "data": 8})";
    const double together = step(nodes, stages)["step_time_s"];
    const double halves = 0.5 * (step("[" + h100 + ", " + h100 + "]", stages)["step_time_s"].get<double>() +
                                 step("[" + a100 + ", " + a100 + "]", stages)["step_time_s"].get<double>());
    CHECK(together >= doctest::Approx(halves).epsilon(1e-3));
    CHECK(together < slow["step_time_s"].get<double>() * 2);
  }
}

TEST_CASE("on a torus the groups of a step are tori where they are whole rows and planes of it") {
  const std::string cluster = R"("cluster": {"fabric": {"kind": "torus", "dimensions": [4, 4, 4], "link": {
    "rate": "10GB/s", "latency": "500ns"}}},)";
  const auto of_step = [&](const std::string& parallel) {
    return result_of("{" + cluster + R"("training": {"gpu": "H100-SXM-80GB", "global_batch": 64, "model": {"layers": [
      {"parameters": 16000000, "forward_flops": 1, "output": 4}, {"parameters": 0, "forward_flops": 1, "output": 4}]},
      "compute": {"gemm": {"share": 1, "depth": 0}, "attention": 1, "memory": 1}, "parallel": )" +
                     parallel + "}}")["exposed_comm_s"]
        .get<double>();
  };
  const auto alone = [&](const std::string& algorithm) {
    return result_of("{" + cluster + R"("collective": {"kind": "all_reduce", "sizes": "64MB", "algorithm": )" +
                     algorithm + "}}")["time_us"]
               .get<double>() *
           1e-6;
  };
  CHECK(alone("\"torus\"") < 0.5 * alone("\"ring\""));
  CHECK(of_step("{}") == doctest::Approx(alone("\"torus\"")).epsilon(1e-6));
}

// Jobs of whole rows or planes share no link, so that each takes what it takes on a torus of its own.
TEST_CASE("jobs that are rows or planes of a torus run as on a torus of their own") {
  const auto time = [](const std::string& sides, const std::string& more) {
    return result_of(fmt::format(R"({{"cluster": {{"fabric": {{"kind": "torus", "dimensions": {}, "link": {{"rate":
      "10GB/s", "latency": "500ns"}}}}}}, "collective": {{"kind": "all_reduce", "algorithm": "torus", "sizes": "64MB"
      {}}}}})",
                                 sides, more))["time_us"]
        .get<double>();
  };
  const double plane = time("[4, 4]", "");
  CHECK(time("[4, 4, 4]", R"(, "jobs": 4)") == plane);
  CHECK(time("[4, 4, 4]", R"(, "jobs": 4, "placement": "interleaved")") == plane);
  CHECK(time("[4, 4, 4]", R"(, "jobs": 16)") == time("[4]", ""));
}
