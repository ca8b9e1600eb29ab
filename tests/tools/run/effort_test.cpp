// What runs are expected to take, and what a budget makes of that.
#include "models/experiments/effort.hpp"

#include <chrono>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "models/experiments/run.hpp"
#include "models/library/library.hpp"
#include "sim/error.hpp"
#include "tests/test_files.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"
#include "tools/cli/expected_end.hpp"

using namespace athanor;

namespace {

/// Hosts on two tiers at packet level, which do what the rest says.
std::string packets(int hosts, const std::string& rest, const std::string& more = "") {
  return fmt::format(R"({{"cluster": {{"nodes": {}, "fabric": {{"kind": "fat_tree", "tiers": 2, "hosts_per_leaf": 4,
    "spines": 4, "link": {{"rate": "100Gb/s", "latency": "500ns"}}}}}}, "network": {{"level": "packet"{}}}, {}}})",
                     hosts, more, rest);
}

std::string ring(const std::string& size) {
  return fmt::format(R"("collective": {{"kind": "all_reduce", "algorithm": "ring", "sizes": "{}"}})", size);
}

/// What is estimated of a scenario as it stands.
nlohmann::json estimate(const std::string& scenario, const std::vector<std::string>& more = {}) {
  const Folder folder;
  std::vector<std::string> words{"run", folder.write("s.json", scenario), "--estimate", "--json"};
  words.insert(words.end(), more.begin(), more.end());
  const Ran ran = athanor_run(words);
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  const nlohmann::json levels = ran.json()["estimates"][0]["levels"];
  for (const nlohmann::json& level : levels) {
    if (level["asked"] == true) { return level; }
  }
  FAIL("no level is as the scenario has it");
  return {};
}

double hops_of(const nlohmann::json& packets) {
  return packets["data"].get<double>() + packets["replies"].get<double>() + packets["forwarded"].get<double>();
}

/// Of hosts that all send to all: of 64 of them some seconds of one core, packet by packet.
std::string long_run(int hosts = 64) {
  return packets(hosts, R"("collective": {"kind": "all_to_all", "algorithm": "pairwise", "sizes": "1GiB"})");
}

}  // namespace

TEST_CASE("of schedules and messages that are all looked at, as many packets are counted as ports send") {
  const std::vector<std::string> subjects{
      ring("1MiB"), R"("collective": {"kind": "all_to_all", "algorithm": "pairwise", "sizes": "1MiB"})",
      R"("collective": {"kind": "broadcast", "algorithm": "ring", "chunk": "64KiB", "sizes": "1MiB"})",
      R"("traffic": {"pattern": "permutation", "sizes": "1MB"})",
      R"("traffic": {"pattern": "incast", "senders": 5, "rounds": 2, "sizes": "100kB"})"};
  for (const std::string& subject : subjects) {
    const std::string more = R"(, "switches": {"flow_control": "credits"})";  // nothing is lost and sent again
    const std::string scenario = packets(8, subject, more);
    CAPTURE(scenario);
    const double counted = estimate(scenario)["work"]["packet_hop"];
    const Folder folder;
    const double sent = hops_of(result_of(folder, scenario)["packets"]);
    // A collective is simulated without bytes, too, to find out what limits it: a packet for each message.
    CHECK(counted >= sent * 0.999);
    CHECK(counted <= sent * 1.35);
  }
}

TEST_CASE("an estimate grows as the work does") {
  for (const char* level : {"packet", "flow", "ideal"}) {
    CAPTURE(level);
    const std::vector<std::string> at{"--set", fmt::format("/network/level={}", level)};
    const auto seconds = [&](int hosts, const std::string& rest) {
      return estimate(packets(hosts, rest), at)["seconds"].get<double>();
    };
    const std::string all = R"("collective": {"kind": "all_to_all", "algorithm": "pairwise", "sizes": "64MiB"})";
    CHECK(seconds(32, all) > 2 * seconds(8, all));
    CHECK(seconds(64, ring("1MiB")) >= seconds(16, ring("1MiB")));
    const std::string many = R"("traffic": {"pattern": "random", "messages": 4000, "sizes": "10MB"})";
    const std::string few = R"("traffic": {"pattern": "random", "messages": 400, "sizes": "10MB"})";
    CHECK(seconds(16, many) > 4 * seconds(16, few));
  }
  const double small = estimate(packets(16, ring("1MiB")))["seconds"];
  const double large = estimate(packets(16, ring("64MiB")))["seconds"];
  CHECK(large > 20 * small);
  CHECK(large < 64 * small);
  CHECK(estimate(long_run(1024))["bytes"] > 2 * estimate(long_run())["bytes"].get<double>());
}

TEST_CASE("chunks are expected to be tried until smaller ones do not pay") {
  // 64 hosts choose 1 MiB, of 4 MiB and 256 KiB beside it; the estimate may be one such step off.
  const auto primitives = [](const std::string& chunk) {
    return estimate(
               packets(64,
                       R"("collective": {"kind": "all_reduce", "algorithm": "double_binary_tree", "sizes": "1GiB")" +
                           chunk + "}"),
               {"--set", "/network/level=flow"})["work"]["primitive"]
        .get<double>();
  };
  const double tried = primitives("");
  CHECK(tried > primitives(R"(, "chunk": "1MiB")"));
  CHECK(tried < 4 * primitives(R"(, "chunk": "256KiB")"));
}

TEST_CASE("several sizes and seeds are expected to take what each of them takes, together") {
  const double one = estimate(packets(16, ring("1MiB")))["seconds"];
  const double other = estimate(packets(16, ring("4MiB")))["seconds"];
  const double both = estimate(packets(16, ring("1MiB")), {"--sizes", "1MiB,4MiB"})["seconds"];
  CHECK(both == doctest::Approx(one + other));
  const double three = estimate(packets(16, ring("1MiB")), {"--set", "/seeds=3"})["seconds"];
  CHECK(three == doctest::Approx(3 * one));
}

TEST_CASE("less detail is expected to take less time") {
  const Folder folder;
  const Ran ran = athanor_run({"run", folder.write("s.json", long_run()), "--estimate", "--json"});
  REQUIRE(ran.code == 0);
  const nlohmann::json levels = ran.json()["estimates"][0]["levels"];
  REQUIRE(levels.size() == 4);
  const std::vector<std::string> names{"packet", "packet, skip_error 0.01", "flow", "ideal"};
  for (std::size_t i = 0; i < levels.size(); ++i) {
    CHECK(levels[i]["network"] == names[i]);
    CHECK(levels[i]["asked"] == (i == 0));
  }
  CHECK(levels[0]["seconds"] > 10 * levels[2]["seconds"].get<double>());
  CHECK(levels[2]["seconds"] >= levels[3]["seconds"]);
  const Ran table = athanor_run({"run", folder.path("s.json"), "--estimate"});
  CHECK(table.out.find("packet, skip_error 0.01") != std::string::npos);
}

TEST_CASE("a budget that is enough changes nothing, and says nothing") {
  const Folder folder;
  const std::string path = folder.write("s.json", packets(8, ring("1MiB")));
  const Ran without = athanor_run({"run", path});
  const Ran within = athanor_run({"run", path, "--budget", "60s"});
  CHECK(within.code == 0);
  CHECK(within.out == without.out);
  CHECK(within.err.empty());
}

TEST_CASE("a budget takes detail from the network until it fits, and the output says so") {
  const Folder folder;
  const std::string path = folder.write("s.json", long_run());
  const Ran ran = athanor_run({"run", path, "--budget", "2s"});
  REQUIRE(ran.code == 0);
  CHECK(ran.out.find("# budget       2.0 s: flow in place of packet") != std::string::npos);
  CHECK(ran.out.find("# network      flow") != std::string::npos);
  const nlohmann::json result = athanor_run({"run", path, "--budget", "2s", "--json"}).json()["results"][0];
  CHECK(result["network"] == "flow");
  CHECK(result["asked_network"] == "packet");
  CHECK(result["simulated_network"] == "flow");
  CHECK(result["budget_s"] == 2.0);
  const nlohmann::json flow = result_of(folder, long_run(), {"--set", "/network/level=flow"});
  CHECK(result["time_us"] == flow["time_us"]);
}

TEST_CASE("a budget takes no more detail than it has to") {
  const Folder folder;
  // Flows that share no link settle at once: what is left of them fits where all packets do not.
  const std::string scenario =
      packets(16, R"("traffic": {"pattern": "shift", "by": 4, "sizes": "512MiB"})", R"(, "routing": "d_mod_k")");
  const Ran ran = athanor_run({"run", folder.write("s.json", scenario), "--budget", "1s", "--json"});
  REQUIRE(ran.code == 0);
  const nlohmann::json result = ran.json()["results"][0];
  CHECK(result["network"] == "packet");
  CHECK(result["asked_network"] == "packet");
  CHECK(result["simulated_network"] == "packet, skip_error 0.01");
  CHECK(result["skipped"]["data"] > 0);
}

TEST_CASE("of several cases those with most detail give way first") {
  const Folder folder;
  std::string scenario = long_run();
  scenario.insert(scenario.size() - 1, R"(, "cases": [{"name": "packets"},
    {"name": "flows", "network": {"level": "flow"}}])");
  const Ran ran = athanor_run({"run", folder.write("s.json", scenario), "--budget", "2s", "--json"});
  REQUIRE(ran.code == 0);
  const nlohmann::json results = ran.json()["results"];
  CHECK(results[0]["simulated_network"] == "flow");
  CHECK(!results[1].contains("simulated_network"));
}

TEST_CASE("a budget that is none is refused, and what it should be is said") {
  const Folder folder;
  const std::string path = folder.write("s.json", packets(8, ring("1MiB")));
  for (const auto& [budget, hint] : std::vector<std::pair<std::string, std::string>>{
           {"0s", "60s"}, {"-1s", "60s"}, {"60", "s"}, {"soon", "'soon'"}, {"1ps", "not even the ideal network"}}) {
    const Ran ran = athanor_run({"run", path, "--budget=" + budget});
    CAPTURE(budget);
    CAPTURE(ran.err);
    CHECK(ran.code == 2);
    CHECK(ran.err.find("--budget") != std::string::npos);
    CHECK(ran.err.find(hint) != std::string::npos);
    CHECK(ran.out.empty());
  }
}

TEST_CASE(
    "what needs more memory than there is is refused before it runs, with what it would need and what to change") {
  const Folder folder;
  const Library library(ATHANOR_TEST_SCENARIOS);
  const Scenario scenario = read_scenario(folder.write("s.json", long_run(1024)), library);
  const Case& only = scenario.cases.front();
  const CaseEffort effort = effort_of(only, {});
  check_memory(scenario, only, effort, effort.bytes, {});
  try {
    check_memory(scenario, only, effort, effort.bytes * 0.6, {});
    FAIL("it is not refused");
  } catch (const SimulationError& error) {
    const std::string what = error.what();
    CHECK(error.code() == "too-large");
    CHECK(what.find(memory_text(effort.bytes)) != std::string::npos);
    CHECK(what.find("/network/level=flow") != std::string::npos);
  }
  CHECK_THROWS_AS(check_memory(scenario, only, effort, 1, {}), SimulationError);
}

TEST_CASE("progress goes to err, where it is asked for or err is a terminal, and never to out") {
  const Folder folder;
  const std::string path = folder.write("s.json", packets(8, ring("1MiB")));
  const Ran without = athanor_run({"run", path, "--json"});
  CHECK(without.err.empty());
  const Ran asked = athanor_run({"run", path, "--json", "--progress"});
  CHECK(asked.err == "athanor: all_reduce of 1 MiB\n");
  CHECK(asked.json()["results"] == without.json()["results"]);
  const Ran terminal = athanor_with({"run", path, "--json"}, -1, true);
  CHECK(terminal.err.find("all_reduce of 1 MiB") != std::string::npos);
  CHECK(terminal.json()["results"] == without.json()["results"]);
}

TEST_CASE("the end is expected as those that are done say") {
  using std::chrono::seconds;
  const ExpectedEnd::Clock::time_point start{};
  ExpectedEnd end({10, 10, 20});
  CHECK(end.text(start).empty());
  end.begins(start);
  CHECK(end.seconds_left(start) == doctest::Approx(40));
  CHECK(end.seconds_left(start + seconds(4)) == doctest::Approx(36));
  end.begins(start + seconds(20));  // it took twice as long as expected: so may the others
  CHECK(end.seconds_left(start + seconds(20)) == doctest::Approx(60));
  CHECK(end.text(start + seconds(20)).find("25 %") != std::string::npos);
  end.begins(start + seconds(40));
  CHECK(end.seconds_left(start + seconds(60)) == doctest::Approx(20));
  CHECK(end.seconds_left(start + seconds(140)) > 0);  // nobody knows any more
}

TEST_CASE("times and memory are told in words that fit") {
  CHECK(duration_text(0.0001) == "1 ms");
  CHECK(duration_text(0.25) == "250 ms");
  CHECK(duration_text(2.34) == "2.3 s");
  CHECK(duration_text(240) == "4 min");
  CHECK(duration_text(10'800) == "3 h");
  CHECK(duration_text(864'000) == "10 days");
  CHECK(memory_text(9e8) == "900 MB");
  CHECK(memory_text(1.2e9) == "1.2 GB");
}
