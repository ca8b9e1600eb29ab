#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// The last delivery among messages of 10 MB over PCIe of 10 GB/s between GPUs under one switch, in ms.
double took(bool peers, const std::string& level, const std::string& pairs) {
  const Folder folder;
  const Ran ran = athanor_run(
      {"run",
       folder.write(
           "s.json",
           fmt::format(R"({{"cluster": {{"node": {{"gpus": 2, "pcie_link": {{"rate": "10GB/s", "latency": "5ns"}},
         "peer_access": {}}}}}, "network": {},
         "traffic": {{"pattern": "pairs", "sizes": "10MB", "pairs": [{}]}}}})",
                       peers, network_at(level), pairs)),
       "--json"});
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  return ran.json()["results"][0]["completion_us_max"].get<double>() / 1000;
}

}  // namespace

TEST_CASE("through host memory both directions share the link between switch and socket, and peers do not") {
  const std::string there = R"({"from": 0, "to": 1})";
  const std::string both = there + R"(, {"from": 1, "to": 0})";
  CHECK(took(false, "flow", there) == doctest::Approx(1).epsilon(0.001));
  for (const char* level : {"flow", "packet"}) {
    CAPTURE(level);
    CHECK(took(false, level, both) == doctest::Approx(2 * took(false, level, there)).epsilon(0.01));
    CHECK(took(true, level, both) == doctest::Approx(took(true, level, there)).epsilon(0.01));
    CHECK(took(true, level, there) == doctest::Approx(took(false, level, there)).epsilon(0.01));
  }
}
