#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// An all-reduce over the first hosts of `nodes` on one switch, whose links carry 10 GB/s and take 500 ns.
std::string by_slots(const std::string& aggregation, const std::string& collective = R"("sizes": "1MiB")",
                     int nodes = 5, const std::string& more = "") {
  return fmt::format(
      R"({{"cluster": {{"nodes": {}, "fabric": {{"kind": "star", "link": {{"rate": "10GB/s", "latency": "500ns"}}}}}},
        "network": {{"aggregation": {{{}}}}}, {}
        "collective": {{"kind": "all_reduce", "algorithm": "aggregation_tree", "ranks": 4, {}}}}})",
      nodes, aggregation, more, collective);
}

Ran run(const std::string& scenario, std::vector<std::string> options = {"--json"}) {
  const Folder folder;
  std::vector<std::string> arguments{"run", folder.write("s.json", scenario)};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return athanor_run(arguments);
}

nlohmann::json row(const std::string& scenario) { return run(scenario).json()["results"][0]; }

/// The scenario is refused, with the pointer and the words.
void check_refused(const std::string& scenario, const std::string& pointer, const std::string& words) {
  const Ran ran = run(scenario);
  CAPTURE(ran.err);
  CHECK(ran.code == 3);
  CHECK(ran.says(pointer));
  CHECK(ran.says(words));
}

constexpr double kSwitchmlPacket = (1024 + 86) / 10e3;  // us on a link
constexpr double kAtpPacket = (248 + 58) / 10e3;

}  // namespace

TEST_CASE("SwitchML without losses takes a round trip and the time of all packets on a link") {
  const nlohmann::json found = row(by_slots(R"("engine": "switchml", "loss": 0)"));
  CHECK(found["algorithm"] == "aggregation_tree");
  CHECK(found["protocol"] == "SwitchML");
  const double round_trip = 2 * (0.5 + kSwitchmlPacket) + 0.4;
  CHECK(found["slots"]["round_trip_us"].get<double>() == doctest::Approx(round_trip));
  CHECK(found["time_us"].get<double>() == doctest::Approx(round_trip + 1023 * kSwitchmlPacket));
  CHECK(found["slots"]["packets"] == 1024);
  CHECK(found["slots"]["retransmissions"] == 0);
  CHECK(found["slots"]["share_in_switches"] == 1);
  CHECK(found["limited_by"] == "network host->leaf");
  CHECK(found["notes"][0].get<std::string>().find("1024 packets, 0 sent again, 100.0 % of additions in switches") !=
        std::string::npos);
}

TEST_CASE("what is sent in a packet, how many slots there are, and the window are the scenario's") {
  const std::string sizes = R"("sizes": "1000KB")";
  const nlohmann::json few = row(by_slots(R"("engine": "switchml", "slots": 4, "payload": "1000B")", sizes));
  const double packet = (1000 + 86) / 10e3;
  const double round_trip = 2 * (0.5 + packet) + 0.4;
  CHECK(few["time_us"].get<double>() == doctest::Approx(250 * round_trip + 3 * packet));
  CHECK(few["limited_by"] == "latency");
  const std::string windowed = R"("engine": "switchml", "window": 4, "payload": "1000B", "header": "86B")";
  CHECK(row(by_slots(windowed, sizes))["time_us"] == few["time_us"]);
}

TEST_CASE("losses cost timeouts, by the seed alone") {
  const auto at = [](const std::string& loss, int seed) {
    return row(by_slots(R"("engine": "switchml", "timeout": "100us", "loss": )" + loss, R"("sizes": "1MiB")", 5,
                        fmt::format(R"("seed": {},)", seed)));
  };
  const nlohmann::json lossless = at("0", 1);
  const nlohmann::json few = at("0.001", 1);
  const nlohmann::json many = at("0.01", 1);
  CHECK(lossless["time_us"] < few["time_us"]);
  CHECK(few["time_us"] < many["time_us"]);
  CHECK(many["slots"]["lost"] > 0);
  CHECK(many["slots"]["retransmissions"] >= many["slots"]["lost"]);
  CHECK(many["time_us"].get<double>() >= lossless["time_us"].get<double>() + 100);
  CHECK(at("0.01", 1)["time_us"] == many["time_us"]);
  CHECK(at("0.01", 2)["slots"] != many["slots"]);
}

TEST_CASE("ATP adds up in switches, hands each sum to its server, and takes a round trip by way of it") {
  const nlohmann::json found = row(by_slots(R"("engine": "atp")", R"("sizes": "248000B")"));
  CHECK(found["protocol"] == "ATP");
  const double round_trip = 4 * (0.5 + kAtpPacket) + 2 * 0.4;
  CHECK(found["slots"]["round_trip_us"].get<double>() == doctest::Approx(round_trip));
  CHECK(found["time_us"].get<double>() == doctest::Approx(round_trip + 999 * kAtpPacket));
  CHECK(found["slots"]["server_packets"] == 1000);
  CHECK(found["slots"]["share_in_switches"] == 1);
}

TEST_CASE("without slots the parameter server makes all additions over its one link") {
  const nlohmann::json found = row(by_slots(R"("engine": "atp", "slots": 0, "window": 512)", R"("sizes": "248000B")"));
  const double round_trip = 4 * (0.5 + kAtpPacket) + 2 * 0.4;
  CHECK(found["time_us"].get<double>() == doctest::Approx(round_trip + 3999 * kAtpPacket));
  CHECK(found["slots"]["server_packets"] == 4000);
  CHECK(found["slots"]["share_in_switches"] == 0);
}

TEST_CASE("the profile's launch and its latency between nodes are added, the latter to each round trip") {
  const std::string ideal = by_slots(R"("engine": "switchml", "loss": 0)");
  const std::string profile =
      R"("profile": {"launch": "5us", "protocols": [{"name": "MPI", "network": {"latency": "2us"}}]},)";
  const std::string priced = by_slots(R"("engine": "switchml", "loss": 0)", R"("sizes": "1MiB")", 5, profile);
  CHECK(row(priced)["time_us"].get<double>() == doctest::Approx(row(ideal)["time_us"].get<double>() + 5 + 2));
}

TEST_CASE("the schedule runs where the scenario says nothing of packets, and where nothing is to be moved") {
  CHECK_FALSE(row(by_slots(R"("engine": "switchml")")).contains("slots"));
  CHECK_FALSE(row(by_slots(R"("engine": "switchml", "loss": 0.01)", R"("sizes": "0B")")).contains("slots"));
}

TEST_CASE("other algorithms compete, and those that need engines too are not simulated beside") {
  const std::string list = R"({"cluster": {"nodes": 5, "fabric": {"kind": "star",
      "link": {"rate": "10GB/s", "latency": "500ns"}}},
    "network": {"aggregation": {"engine": "switchml", "timeout": "1ms", "loss": %}},
    "collective": {"kind": "all_reduce", "algorithm": ["ring", "aggregation_tree"], "ranks": 4, "sizes": "1MiB"}})";
  const auto with_loss = [&](const std::string& loss) {
    std::string text = list;
    return row(text.replace(text.find('%'), 1, loss))["algorithm"];
  };
  CHECK(with_loss("0") == "aggregation_tree");
  CHECK(with_loss("0.1") == "ring");
  std::string other = by_slots(R"("engine": "switchml", "loss": 0.01)");
  other.replace(other.find("aggregation_tree"), 16, "collnet_chain");
  check_refused(other, "/collective/algorithm", "simulated packet by packet, and so is aggregation_tree alone");
}

TEST_CASE("every network level carries the packets, and ports tell what they were") {
  for (const std::string level : {"ideal", "flow", "packet"}) {
    CAPTURE(level);
    std::string scenario = by_slots(R"("engine": "atp")", R"("sizes": "248000B")");
    scenario.replace(scenario.find(R"("aggregation")"), 0, R"("level": ")" + level + R"(", )");
    CHECK(row(scenario)["slots"]["server_packets"] == 1000);
    CHECK(row(scenario).contains("packets") == (level == "packet"));
  }
  const Folder folder;
  const std::string ports = folder.path("ports.csv");
  const std::string scenario = folder.write("s.json", by_slots(R"("engine": "switchml", "loss": 0)"));
  CHECK(athanor_run({"run", scenario, "--ports=" + ports}).code == 0);
  CHECK(read_text_file(ports).find(fmt::format(",{},", 1'048'576 + 1024 * 86)) != std::string::npos);
}

TEST_CASE("several seeds lose other packets, and the median is reported") {
  const nlohmann::json found = row(by_slots(R"("engine": "switchml", "loss": 0.01, "timeout": "100us")",
                                            R"("sizes": "256KiB")", 5, R"("seeds": 5,)"));
  CHECK(found["seeds"] == 5);
  CHECK(found["time_us_p5"] < found["time_us_p95"]);
  CHECK(found["slots"]["lost"] > 0);
}

TEST_CASE("what does not go with slots is told at its key") {
  const std::string at = "/network/aggregation/";
  check_refused(by_slots(R"("engine": "sharp_v2", "loss": 0.01)"), at + "loss", "sharp_v2 does not add up packet by");
  check_refused(by_slots(R"("slots": 64)"), at + "slots", "ideal does not add up packet by packet");
  check_refused(by_slots(R"("engine": "switchml", "loss": 1)"), at + "loss", "leaves nothing to arrive");
  check_refused(by_slots(R"("engine": "switchml", "loss": 1.5)"), at + "loss", "");
  check_refused(by_slots(R"("engine": "switchml", "slots": 0)"), at + "slots",
                "without slots a switch adds nothing up");
  check_refused(by_slots(R"("engine": "switchml", "servers": [4])"), at + "servers", "no parameter servers");
  check_refused(by_slots(R"("engine": "atp", "slots": 0)"), at + "slots", R"(add "window": 512)");
  check_refused(by_slots(R"("engine": "atp", "servers": [3])"), at + "servers", "on endpoint 3 is a rank");
  check_refused(by_slots(R"("engine": "atp", "servers": [5])"), at + "servers", "there is no endpoint 5");
  check_refused(by_slots(R"("engine": "atp", "servers": [4, 4])"), at + "servers", "2 servers for 1 job");
  check_refused(by_slots(R"("engine": "switchml", "loss": 0)", R"("chunk": "64KiB", "sizes": "1MiB")"), at + "loss",
                "no channels, chunks and slices");
  check_refused(R"({"cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"rate": "10GB/s", "latency": "1us"}}},
      "network": {"aggregation": {"engine": "switchml", "loss": 0.01}},
      "collective": {"kind": "reduce_scatter", "sizes": "1KiB"}})",
                at + "loss", "for all_reduce alone, and this is reduce_scatter");
}

TEST_CASE("what an engine of slots cannot have is refused, or replaced where the scenario falls back") {
  const std::string fallback = R"(, "on_exhausted": "fallback")";
  const std::string atp = R"("engine": "atp")";
  check_refused(by_slots(atp, R"("sizes": "1KiB")", 4), "/collective/algorithm",
                "no endpoint is left for the parameter server of atp");
  const nlohmann::json fallen = row(by_slots(atp + fallback, R"("sizes": "1KiB")", 4));
  CHECK(fallen["algorithm"] != "aggregation_tree");
  CHECK_FALSE(fallen.contains("slots"));
  CHECK(fallen["fell_back"].get<std::string>().find("no endpoint is left") != std::string::npos);
  std::string many = by_slots(atp, R"("sizes": "1KiB")", 70);
  many.replace(many.find(R"("ranks": 4)"), 10, R"("ranks": 65)");
  check_refused(many, "/collective/algorithm", "65 ranks, and atp takes 64 of one job at most");
  check_refused(by_slots(R"("engine": "switchml", "loss": 0)", R"("type": "int8", "sizes": "1KiB")"),
                "/collective/algorithm", "switchml does not add int8");
}

TEST_CASE("a timeout below the round trip and --trace are refused with what to do") {
  const Ran early = run(by_slots(R"("engine": "switchml", "timeout": "1us")"));
  CHECK(early.code != 0);
  CHECK(early.says("every packet would be repeated; raise the timeout"));
  const Ran trace = run(by_slots(R"("engine": "atp")"), {"--trace=trace.json"});
  CHECK(trace.code == 2);
  CHECK(trace.says("have none; use --ports"));
}

TEST_CASE("jobs of ATP share slots: the fewer there are, the more packets go on to the servers") {
  const auto of_two = [](const std::string& aggregation) {
    std::string scenario = by_slots(aggregation, R"("sizes": "2480000B", "jobs": 2)", 10);
    return row(scenario);
  };
  const nlohmann::json much = of_two(R"("engine": "atp", "window": 128, "slots": 8192)");
  const nlohmann::json little = of_two(R"("engine": "atp", "window": 128, "slots": 128)");
  const nlohmann::json none = of_two(R"("engine": "atp", "window": 128, "slots": 0)");
  REQUIRE(much["jobs"].size() == 2);
  for (const nlohmann::json& job : much["jobs"]) {
    CHECK(job["slots"]["share_in_switches"] > 0.9);
    CHECK(job["slowdown"].get<double>() == doctest::Approx(1).epsilon(0.1));
  }
  double share = 0;
  for (const nlohmann::json& job : little["jobs"]) { share += job["slots"]["share_in_switches"].get<double>() / 2; }
  CHECK(share < 0.9);
  CHECK(share > 0.1);
  for (const nlohmann::json& job : none["jobs"]) { CHECK(job["slots"]["share_in_switches"] == 0); }
  CHECK(much["time_us"] < little["time_us"]);
  CHECK(little["time_us"] < none["time_us"]);
}

TEST_CASE("jobs of SwitchML divide slots evenly, so that few slots for each stretch them to their round trips") {
  const std::string slots = R"("engine": "switchml", "payload": "1000B", "slots": 8)";
  const nlohmann::json found = row(by_slots(slots, R"("sizes": "1000KB", "jobs": 2)", 8));
  const double packet = (1000 + 86) / 10e3;
  const double round_trip = 2 * (0.5 + packet) + 0.4;
  for (const nlohmann::json& job : found["jobs"]) {
    CHECK(job["time_us"].get<double>() == doctest::Approx(250 * round_trip + 3 * packet));
    CHECK(job["alone_time_us"].get<double>() == doctest::Approx(125 * round_trip + 7 * packet));
  }
}

TEST_CASE("jobs without an endpoint for each server, and jobs with a choice of algorithms, are refused") {
  check_refused(by_slots(R"("engine": "atp")", R"("sizes": "1KiB", "jobs": 2)", 9), "/collective/algorithm",
                "no endpoint is left for the parameter server of atp");
  check_refused(by_slots(R"("engine": "atp", "servers": [8])", R"("sizes": "1KiB", "jobs": 2)", 10),
                "/network/aggregation/servers", "1 servers for 2 jobs");
  std::string choice = by_slots(R"("engine": "switchml", "loss": 0)", R"("sizes": "1KiB", "jobs": 2)", 8);
  choice.replace(choice.find(R"("aggregation_tree")"), 18, R"(["ring", "aggregation_tree"])");
  check_refused(choice, "/network/aggregation/loss", R"(write "algorithm": "aggregation_tree")");
}

TEST_CASE("the list of engines says which have slots") {
  const nlohmann::json all = athanor_run({"list", "engines", "--json"}).json()["results"];
  for (const nlohmann::json& engine : all) {
    const bool has = engine["name"] == "switchml" || engine["name"] == "atp";
    CHECK(engine["slots"].is_object() == has);
  }
  CHECK(athanor_run({"list", "engines", "--verbose"}).says("512 of all jobs together, a packet of 248 B and 58 B"));
}
