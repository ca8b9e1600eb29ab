// What the levels of the network have in common, and where they part.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// Microseconds of 1, 2, 4 and 8 MiB in chunks of 64 KiB along NVLSTree, over two nodes without software.
std::vector<double> trees_through_nvswitches(const std::string& network) {
  const Folder folder;
  const Ran ran = athanor_run({"run",
                               folder.write("s.json", fmt::format(R"({{"network": {},
    "cluster": {{"node": "DGX-H100", "nodes": 2, "fabric": {{"kind": "rail_optimized", "switch": "QM9700"}}}},
    "collective": {{"kind": "all_reduce", "algorithm": "nvls_tree", "channels": 1, "chunk": "64KiB",
                    "sizes": "1MiB..8MiB"}}}})",
                                                                  network)),
                               "--json"});
  CAPTURE(ran.out);
  REQUIRE(ran.code == 0);
  std::vector<double> times;
  const nlohmann::json results = ran.json()["results"];
  for (const nlohmann::json& row : results) { times.push_back(row["time_us"]); }
  REQUIRE(times.size() == 4);
  return times;
}

}  // namespace

// Pieces of all heads share the NVLinks of a GPU from the same instants on. Equal shares keep them in step for ever, so
// that NVLinks and NICs are busy in turn. Packets go one after the other: heads drift apart, and fill each other's
// gaps.
TEST_CASE("heads of a tree through NVSwitches go in step as flows, and drift apart as packets") {
  const std::vector<double> flows = trees_through_nvswitches(R"({"level": "flow"})");
  const std::vector<double> packets = trees_through_nvswitches(R"({"level": "packet", "transport": {"header": "0B"}})");
  CHECK(packets[0] == doctest::Approx(flows[0]).epsilon(0.015));
  CHECK(packets[1] == doctest::Approx(flows[1]).epsilon(0.015));
  const double in_step = flows[1] - flows[0];  // each further MiB
  CHECK((flows[2] - flows[1]) / 2 == doctest::Approx(in_step).epsilon(1e-3));
  CHECK((flows[3] - flows[2]) / 4 == doctest::Approx(in_step).epsilon(1e-3));
  CHECK((packets[2] - packets[1]) / 2 < 0.97 * in_step);
  CHECK((packets[3] - packets[2]) / 4 < 0.85 * in_step);
}

// Four chunks take as long as one here, and sixteen less; whether one picosecond stands between the first two must not
// decide whether the third is tried.
TEST_CASE("the choice of chunks does not hang on a picosecond: twice the speed takes half the time") {
  const auto time = [](const char* rate, const char* latency) {
    const Folder folder;
    const Ran ran = athanor_run(
        {"run",
         folder.write("s.json", fmt::format(R"({{"cluster": {{"fabric": {{"kind": "mesh", "dimensions": [2, 2, 2],
      "link": {{"rate": "{}", "latency": "{}", "efficiency": 0.75}}}}}}, "collective": {{"kind": "broadcast",
      "algorithm": "double_binary_tree", "channels": 1, "ranks": 4, "sizes": "16KiB"}}}})",
                                            rate, latency)),
         "--json"});
    CAPTURE(ran.out);
    REQUIRE(ran.code == 0);
    return ran.json()["results"][0]["time_us"].get<double>();
  };
  CHECK(time("16Gb/s", "200ns") == doctest::Approx(2 * time("32Gb/s", "100ns")).epsilon(1e-6));
}
