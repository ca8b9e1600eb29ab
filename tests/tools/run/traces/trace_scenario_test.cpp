#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/tools/run/traces/trace_fixture.hpp"

using namespace athanor;
using namespace athanor::test;

namespace {

/// Two hosts on one switch, 1 us and 10 GB/s apart.
std::string scenario(const std::string& trace, const std::string& more = "") {
  return R"({"name": "replay", "cluster": {"nodes": 2, "fabric": {"kind": "star", "link": {"rate": "10GB/s",
             "latency": "500ns"}}}, "trace": )" +
         trace + more + "}";
}

/// Rank 0 computes and sends; rank 1 waits for it.
constexpr const char* kMessage = R"({"athanor_trace": 1,
 "channels": [{"name": "c", "from": 0, "to": 1}],
 "workers": [
  {"streams": [{"name": "s"}], "operations": [{"kind": "compute", "time": "40us"},
    {"kind": "send", "channel": "c", "size": "1MB"}]},
  {"streams": [{"name": "s"}], "operations": [{"kind": "receive", "channel": "c", "size": "1MB"}]}]})";

}  // namespace

TEST_CASE("a trace is replayed on the cluster: computations last as they did, messages take what the network says") {
  const Folder folder;
  folder.write("t.json", kMessage);
  const auto time = [&](const std::string& more) {
    const std::string file = folder.write("s.json", scenario(R"({"files": "t.json")" + more + "}"));
    const nlohmann::json row = athanor_run({"run", file, "--json"}).json()["results"][0];
    CHECK(row["format"] == "athanor");
    CHECK(row["ranks"] == 2);
    return row["step_time_s"].get<double>() * 1e6;
  };
  // 1 MB at 10 GB/s, and two hops of 500 ns.
  CHECK(time("") == doctest::Approx(40 + 100 + 1));
  CHECK(time(R"(, "compute_scale": 0.5)") == doctest::Approx(20 + 100 + 1));
}

// Two messages of 20 kB leave host 0: 4 us of its link, and 1 us of latency.
TEST_CASE("messages of one host take its link in turn before their latency") {
  const Folder folder;
  const std::string send = R"({"kind": "send", "size": "20kB", )";
  folder.write("t.json", R"({"athanor_trace": 1,
    "channels": [{"name": "c", "from": 0, "to": 1}, {"name": "d", "from": 0, "to": 1}],
    "workers": [
     {"streams": [{"name": "s"}, {"name": "t"}], "operations": [)" +
                             send + R"("channel": "c"}, )" + send + R"("channel": "d", "stream": "t"}]},
     {"streams": [{"name": "s"}, {"name": "t"}], "operations": [
       {"kind": "receive", "channel": "c", "size": "20kB"},
       {"kind": "receive", "channel": "d", "size": "20kB", "stream": "t"}]}]})");
  const std::string file = folder.write("s.json", scenario(R"({"files": "t.json"})"));
  const nlohmann::json row = athanor_run({"run", file, "--json"}).json()["results"][0];
  CHECK(row["step_time_s"].get<double>() * 1e6 == doctest::Approx(4 + 1));
}

TEST_CASE("cases share a trace, and its shares of time add up to the whole") {
  const Folder folder;
  folder.write("t.json", kMessage);
  const std::string file =
      folder.write("s.json", scenario(R"({"files": "t.json"})",
                                      R"(, "cases": [{"name": "a"}, {"name": "b", "network": {"level": "ideal"}}])"));
  const nlohmann::json results = athanor_run({"run", file, "--json"}).json()["results"];
  REQUIRE(results.size() == 2);
  for (const nlohmann::json& row : results) {
    double sum = 0;
    for (const auto& [key, share] : row["breakdown"].items()) { sum += share.get<double>(); }
    CHECK(sum == doctest::Approx(1));
  }
  CHECK(athanor_run({"run", file}).says("computing"));
  CHECK(athanor_run({"validate", file, "--json"}).out.find("athanor") != std::string::npos);
}

TEST_CASE("what does not fit a trace is refused") {
  const Folder folder;
  folder.write("t.json", kMessage);
  const auto ran = [&](const std::string& text) { return athanor_run({"validate", folder.write("s.json", text)}); };
  const std::string good = R"({"files": "t.json"})";
  CHECK(ran(scenario(good)).code == 0);
  CHECK(ran(scenario(good, R"(, "collective": {"kind": "all_reduce", "sizes": "1KiB"})"))
            .says("here are collective, trace"));
  CHECK(ran(scenario(R"({"files": "u.json"})")).says("a path is relative to the scenario's file"));
  CHECK(ran(scenario(R"({"files": "t.json", "compute_scale": -1})")).code == 3);
  CHECK(ran(scenario(R"({"file": "t.json"})")).says("did you mean 'files'?"));
  std::string small = scenario(good);
  small.replace(small.find("\"nodes\": 2"), 10, "\"nodes\": 1");
  CHECK(ran(small).says("the trace has 2 ranks, but the cluster has 1 endpoints"));
}

TEST_CASE(
    "a lower latency can make the whole take longer: who may start earlier takes a share of what others wait for") {
  // Rank 0 sends to 1, who then sends to 3; rank 2 sends to 1 as well, as soon as it has heard of 3. Links carry 1
  // GB/s, and all latency is between 2 and the switch. With 1 ms of it the link to 1 is free when rank 2 begins: 1 + 10
  // ms. Without, both share it, so that the first message takes 2 ms less what it moved alone, 2 x 1 ns - 1 ns.
  constexpr const char* kTrace = R"({"athanor_trace": 1,
   "channels": [{"name": "p", "from": 0, "to": 1}, {"name": "q", "from": 1, "to": 3}, {"name": "r", "from": 2, "to": 1},
    {"name": "t", "from": 3, "to": 2}],
   "workers": [
    {"streams": [{"name": "s"}], "operations": [{"kind": "send", "channel": "p", "size": "1MB"}]},
    {"streams": [{"name": "s"}, {"name": "u"}], "operations": [{"kind": "receive", "channel": "p", "size": "1MB"},
      {"kind": "send", "channel": "q", "size": "10MB"}, {"kind": "receive", "channel": "r", "size": "1MB", "stream": 1}]},
    {"streams": [{"name": "s"}], "operations": [{"kind": "receive", "channel": "t", "size": "1B"},
      {"kind": "send", "channel": "r", "size": "1MB"}]},
    {"streams": [{"name": "s"}, {"name": "u"}], "operations": [{"kind": "send", "channel": "t", "size": "1B"},
      {"kind": "receive", "channel": "q", "size": "10MB", "stream": 1}]}]})";
  const Folder folder;
  folder.write("t.json", kTrace);
  const auto milliseconds = [&](const std::string& latency) {
    std::string graph = R"({"vertices": [{"name": "x", "kind": "leaf"})";
    std::string links;
    for (const char* host : {"a", "b", "c", "d"}) {
      graph += fmt::format(R"(, {{"name": "{}", "kind": "host"}})", host);
      links += fmt::format(R"({}{{"between": ["{}", "x"], "rate": "1GB/s", "latency": "{}"}})",
                           links.empty() ? "" : ", ", host, std::string(host) == "c" ? latency : "0ns");
    }
    const std::string file = folder.write("s.json", fmt::format(R"({{"cluster": {{"graph": {}], "links": [{}]}}}},
      "trace": {{"files": "t.json"}}}})",
                                                                graph, links));
    return athanor_run({"run", file, "--json"}).json()["results"][0]["step_time_s"].get<double>() * 1e3;
  };
  CHECK(milliseconds("1ms") == doctest::Approx(11).epsilon(1e-9));
  CHECK(milliseconds("0ns") == doctest::Approx(12 - 1e-6).epsilon(1e-9));
}
