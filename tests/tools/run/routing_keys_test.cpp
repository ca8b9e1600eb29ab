#include <doctest/doctest.h>

#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// Two nodes of two GPUs and two NICs, whose sockets are joined by a slow link, on a network for each rail.
std::string rails(const std::string& more) {
  return R"({"cluster": {"node": {"gpus": 2, "nics": 2, "nic": "CX7-NDR", "sockets": 2,
      "scale_up": {"kind": "nvswitch", "link": {"rate": "50GB/s"}, "links_per_gpu": 8},
      "pcie_link": {"rate": "60GB/s"}, "socket_link": {"rate": "5GB/s"},
      "pcie": [{"socket": 0, "gpus": [0], "nics": [0]}, {"socket": 1, "gpus": [1], "nics": [1]}]},
    "nodes": 2, "fabric": {"kind": "rail_only", "link": {"rate": "50GB/s", "latency": "1us"}}},
    "collective": {"kind": "all_to_all", "algorithm": "pairwise", "sizes": "64MiB"})" +
         more + "}";
}

}  // namespace

TEST_CASE("pxn is on where rails are apart, and without it data crosses between the sockets") {
  const Folder folder;
  const std::string file = folder.write("s.json", rails(R"(, "cases": [{"name": "default"},
    {"name": "on", "network": {"pxn": true}}, {"name": "off", "network": {"pxn": false}}])"));
  const nlohmann::json rows = athanor_run({"run", file, "--json"}).json()["results"];
  REQUIRE(rows.size() == 3);
  CHECK(rows[0]["time_us"] == rows[1]["time_us"]);
  // 16 MiB of each GPU take 3.4 ms over the 5 GB/s between the sockets, and 0.4 ms over a NIC.
  CHECK(rows[2]["time_us"].get<double>() > 3000);
  CHECK(rows[1]["time_us"].get<double>() < 1500);
  CHECK(rows[2]["limited_by"].get<std::string>().find("cpu") != std::string::npos);
}

TEST_CASE("pxn where there is no NVLink is refused at its key, and an override at its place in the list") {
  const Folder folder;
  const std::string pxn = folder.write("s.json", small_with("\"name\"", R"("network": {"pxn": true}, "name")"));
  const Ran refused = athanor_run({"run", pxn});
  CHECK(refused.code == 3);
  CHECK(refused.says("here is no NVLink (at /network/pxn)"));
  const std::string lost = folder.write(
      "t.json",
      small_with("\"nodes\": 4", R"("overrides": [{"between": ["host1", "leaf0"], "down": true}], "nodes": 4)"));
  const Ran cut = athanor_run({"run", lost});
  CHECK(cut.code == 3);
  CHECK(cut.says("1 of 4 endpoints is cut off by links that are down: host1 (at /cluster/overrides/0)"));
}

TEST_CASE("what is down is warned of, and counted in the description") {
  const Folder folder;
  const std::string file = folder.write("s.json", rails(R"(, "cases": [{"name": "whole"}, {"name": "cut",
    "cluster": {"overrides": [{"between": ["node0/nic1", "leaf1"], "down": true}]}}])"));
  const Ran ran = athanor_run({"run", file});
  CHECK(ran.code == 0);
  CHECK(ran.says("warning: 2 links down, counted in one direction: node0/nic1 -> leaf1, leaf1 -> node0/nic1"));
  CHECK(ran.says("on a rail-only network of 2 rails, 2 links overridden"));
}
