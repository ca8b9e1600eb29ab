#include "models/bill/bill.hpp"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/test_files.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"
#include "tools/cli/scenarios.hpp"

namespace athanor {

namespace {

Bill bill(const std::string& cluster, const std::string& prices = "{}") {
  const Folder folder;
  const std::string path = folder.write(
      "s.json",
      fmt::format(
          R"({{"cluster": {}, "prices": {}, "collective": {{"kind": "all_reduce", "algorithm": "ring", "sizes": "1MiB"}}}})",
          cluster, prices));
  const Library library(ATHANOR_TEST_SCENARIOS);
  Problems problems;
  const Scenario scenario = read_scenario(path, library, {}, problems);
  problems.throw_if_any();
  return bill_of(scenario.cases.at(0), load_prices(library));
}

TEST_CASE("parts are counted as in the fabric, and priced by their presets") {
  // 32 nodes of 8 NICs, a rail each: 256 cables to leaves. Groups of 16 nodes: 2 x 8 leaves of 32 ports up and down.
  const Bill full = bill(
      R"({"node": "DGX-H100", "nodes": 32, "fabric": {"kind": "rail_optimized", "switch": "QM9700", "nodes_per_group": 32}})");
  CHECK(full.parts.nodes.at("DGX-H100") == 32);
  CHECK(full.parts.gpus == 256);
  CHECK(full.parts.nics == 256);
  const std::uint32_t switches = full.parts.switches.at("QM9700");
  CHECK(switches == 12);  // 8 leaves of 32 ports down and 32 up, 4 spines of 64
  CHECK(full.parts.cables == 256 + 256);
  CHECK(full.usd == doctest::Approx(32 * 310'000.0 + switches * 43'000.0));
  CHECK_FALSE(full.w.has_value());  // nobody says what a QM9700 draws
  CHECK(full.unpriced == std::vector<std::string>{"QM9700 (w)", "cable (usd)", "cable (w)"});
}

TEST_CASE("nodes draw less by what their GPUs are limited to less, and cost the same") {
  const auto of = [](const std::string& gpu, const std::string& prices) {
    return bill(R"({"node": {"preset": "DGX-H100", "gpu": )" + gpu + R"(}, "nodes": 2,
                    "fabric": {"kind": "star", "link": {"rate": "50GB/s", "latency": "500ns"}}})",
                prices);
  };
  const std::string others = R"({"switch_w": 100, "switch_usd": 1})";
  const Bill full = of("\"H100-SXM-80GB\"", others);
  const Bill limited = of(R"({"preset": "H100-SXM-80GB", "power": "500W"})", others);
  CHECK(*full.w - *limited.w == doctest::Approx(16 * (700 - 500)));
  CHECK(*full.usd == *limited.usd);
  CHECK(of(R"({"preset": "H100-SXM-80GB", "power": "0.8kW", "tflops": {"bf16": 1100}})", others).w == full.w);
  // What the scenario says of its nodes stands.
  const std::string own = R"({"node_w": 9000, "switch_w": 100, "switch_usd": 1})";
  CHECK(of(R"({"preset": "H100-SXM-80GB", "power": "500W"})", own).w == doctest::Approx(2 * 9000 + 100));
}

TEST_CASE("athanor describe tells what a cluster is made of, costs and draws, and what nobody says") {
  const Ran ran = athanor_run({"describe", "DGX-A100"});
  CHECK(ran.says("made of                   1 x DGX-A100\n"));
  CHECK(ran.says("price                     0.199 million USD\n"));
  CHECK(ran.says("power                     6.5 kW\n"));
  const Folder folder;
  const std::string file = folder.write("small.json", kSmall);
  CHECK(athanor_run({"describe", file})
            .says("price                     unknown (no figure of switch, host, cable: give it in \"prices\")"));
  const nlohmann::json json =
      athanor_run({"describe", file, "--set", R"(/prices={"node_w": 300, "switch_w": 100})", "--json"})
          .json()["results"][0];
  CHECK(json["bill_switches"] == 1);
  CHECK(json["bill_w"] == 4 * 300 + 100);
}

TEST_CASE("the scenario's own prices win, and complete what presets do not say") {
  const std::string cluster =
      R"({"nodes": 4, "fabric": {"kind": "star", "link": {"rate": "10GB/s", "latency": "500ns"}}})";
  CHECK_FALSE(bill(cluster).usd.has_value());
  const Bill own =
      bill(cluster,
           R"({"node_usd": 1000, "node_w": 300, "switch_usd": 500, "switch_w": 100, "cable_usd": 20, "cable_w": 2})");
  CHECK(own.parts.cables == 4);
  CHECK(own.usd == doctest::Approx(4 * 1000 + 500 + 4 * 20));
  CHECK(own.w == doctest::Approx(4 * 300 + 100 + 4 * 2));
  CHECK(own.unpriced.empty());
}

}  // namespace

}  // namespace athanor
