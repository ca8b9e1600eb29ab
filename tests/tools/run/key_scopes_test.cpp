// A key that does nothing is an error that says so.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

constexpr const char* kStar =
    R"("cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"rate": "10GB/s", "latency": "500ns"}}})";
constexpr const char* kCollective = R"("collective": {"kind": "all_reduce", "algorithm": "ring", "sizes": "1MiB"})";
constexpr const char* kTraffic = R"("traffic": {"pattern": "shift", "sizes": "1MiB"})";
constexpr const char* kServers = R"("parameter_server": {"parameters": "1MB", "servers": 1, "compute": "1ms"})";

std::string scenario(const std::string& what, const std::string& more = "") {
  return fmt::format("{{{}{}{},\n {}}}", kStar, more.empty() ? "" : ",\n ", more, what);
}

Ran run(const std::string& text, const std::vector<std::string>& more = {}) {
  const Folder folder;
  std::vector<std::string> words{"run", folder.write("s.json", text), "--json"};
  words.insert(words.end(), more.begin(), more.end());
  return athanor_run(words);
}

/// Is it refused, at this place, with something to do instead?
void check_refused(const std::string& text, const std::string& pointer) {
  const Ran ran = run(text);
  CAPTURE(text);
  CAPTURE(ran.out);
  REQUIRE(ran.code == 3);
  const nlohmann::json error = ran.json()["error"];
  CHECK(error["code"] == "no-effect");
  CHECK(error["pointer"] == pointer);
  CHECK(error["line"].get<int>() == 2);
  CHECK_FALSE(error["hint"].get<std::string>().empty());
}

}  // namespace

TEST_CASE("settings of packets are refused at the other levels") {
  for (const char* level : {"ideal", "flow"}) {
    for (const std::string key : {"transport", "switches", "pcie", "nvlink"}) {
      check_refused(scenario(kCollective, fmt::format(R"("network": {{"level": "{}", "{}": {{}}}})", level, key)),
                    "/network/" + key);
    }
  }
  CHECK(run(scenario(kCollective, R"("network": {"level": "packet", "transport": {"header": "0B"}})")).code == 0);
}

TEST_CASE("settings of one congestion control or flow control are refused beside another") {
  const auto packets = [](const std::string& more) {
    return scenario(kCollective, R"("network": {"level": "packet", )" + more + "}");
  };
  check_refused(packets(R"("transport": {"swift": {}})"), "/network/transport/swift");
  check_refused(packets(R"("transport": {"hpcc": {}})"), "/network/transport/hpcc");
  check_refused(packets(R"("transport": {"initial_window": "64KiB"})"), "/network/transport/initial_window");
  check_refused(packets(R"("switches": {"lane_buffer": "64KiB"})"), "/network/switches/lane_buffer");
  check_refused(packets(R"("switches": {"queue": "64KiB"})"), "/network/switches/queue");
  check_refused(packets(R"("switches": {"flowlet_gap": "1us"})"), "/network/switches/flowlet_gap");
  check_refused(packets(R"("switches": {"flow_control": "none", "pause_above": "200KiB"})"),
                "/network/switches/pause_above");
}

TEST_CASE("engines and NCCL are refused where no collective runs") {
  for (const char* what : {kTraffic, kServers}) {
    check_refused(scenario(what, R"("network": {"aggregation": {}})"), "/network/aggregation");
    check_refused(scenario(what, R"("network": {"offload": {}})"), "/network/offload");
    check_refused(scenario(what, R"("nccl": {})"), "/nccl");
  }
}

TEST_CASE("engines of switches are refused where no algorithm uses any") {
  check_refused(scenario(kCollective, R"("network": {"aggregation": {}})"), "/network/aggregation");
  const std::string best = R"("collective": {"kind": "all_reduce", "algorithm": "best", "sizes": "1MiB"})";
  CHECK(run(scenario(best, R"("network": {"aggregation": {}})")).code == 0);
}

TEST_CASE("a latency of cables is refused beside links that say theirs") {
  const Ran ran = run(R"({"cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"rate": "10GB/s", "latency":
    "500ns"}, "cable_latency": "1us"}}, "collective": {"kind": "all_reduce", "sizes": "1MiB"}})");
  CHECK(ran.code == 3);
  CHECK(ran.json()["error"]["code"] == "no-effect");
  CHECK(ran.json()["error"]["pointer"] == "/cluster/fabric/cable_latency");
}

TEST_CASE("ranks per node that no algorithm can use are told at their place") {
  const Ran ran = run(fmt::format("{{{}, {}}}", kStar, R"("collective": {"kind": "all_reduce", "sizes": "1MiB",
    "algorithm": "hierarchical", "group": 3})"));
  CAPTURE(ran.out);
  CHECK(ran.code == 3);
  CHECK(ran.json()["error"]["pointer"] == "/collective/group");
}

TEST_CASE("queue pairs are refused where there is no contention") {
  check_refused(scenario(kCollective, R"("network": {"level": "ideal", "queue_pairs": 4})"), "/network/queue_pairs");
}

TEST_CASE("what a collective does not have is refused") {
  const auto collective = [](const std::string& more) {
    return fmt::format("{{{},\n \"collective\": {{\"sizes\": \"1MiB\", {}}}}}", kStar, more);
  };
  check_refused(collective(R"("kind": "all_reduce", "root": 1)"), "/collective/root");
  check_refused(collective(R"("kind": "all_gather", "reduction": "maximum")"), "/collective/reduction");
  check_refused(collective(R"("kind": "all_reduce", "algorithm": "ring", "rings": 2)"), "/collective/rings");
  check_refused(collective(R"("kind": "all_reduce", "algorithm": "ring", "dimensions": [2, 2])"),
                "/collective/dimensions");
}

TEST_CASE("options that would do nothing are refused") {
  const Folder folder;
  const auto refused = [&](const std::string& what, const std::string& option) {
    const Ran ran = run(scenario(what), {option});
    CAPTURE(what);
    CAPTURE(ran.out);
    CHECK(ran.code == 2);
    CHECK(ran.says("leave"));
  };
  refused(kCollective, "--flows=" + folder.path("flows.csv"));
  refused(kServers, "--flows=" + folder.path("flows.csv"));
  refused(kServers, "--ports=" + folder.path("ports.csv"));
  refused(kCollective, "--strict");
  refused(R"("collective": {"kind": "barrier"})", "--sizes=1KiB");
}
