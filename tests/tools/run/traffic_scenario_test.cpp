#include <doctest/doctest.h>
#include <fmt/core.h>

#include "sim/file.hpp"
#include "tests/json_text.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// Eight hosts on one switch, 10 GB/s and 1 us from host to host, with this traffic.
std::string on_star(const std::string& traffic, const std::string& more = "") {
  return R"({"cluster": {"nodes": 8, "fabric": {"kind": "star", "link": {"rate": "10GB/s", "latency": "500ns"}}},
             )" +
         more + R"("traffic": )" + traffic + "}";
}

bool says(const nlohmann::json& problem, const std::string& text) {
  return text_of(problem).find(text) != std::string::npos;
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("traffic runs at every level, and an incast takes as long as its bytes at the receiver's link") {
  const Folder folder;
  const std::string incast = on_star(R"({"pattern": "incast", "senders": 4, "receiver": "host2", "sizes": "1MiB"})");
  for (const char* level : {"ideal", "flow", "packet"}) {
    const nlohmann::json row = results_of(folder, incast, {"--set", "/network=" + network_at(level)})[0];
    const double alone = 1048576e-4 + 1;  // us
    const double times = std::string(level) == "ideal" ? 1 : 4;
    CHECK(row["traffic"] == "incast");
    CHECK(row["network"] == level);
    CHECK(row["messages"] == 4);
    CHECK(row["total_bytes"] == 4 * 1048576);
    CHECK(row["completion_us_max"].get<double>() == doctest::Approx((alone - 1) * times + 1).epsilon(0.002));
    CHECK(row["throughput_ratio"].get<double>() == doctest::Approx(1 / times).epsilon(0.05));
    CHECK(row["busiest_link"] == (times > 1 ? "leaf0 -> host2" : "leaf0 -> host2"));
    CHECK(row.contains("packets") == (std::string(level) == "packet"));
  }
}

TEST_CASE("senders are those that follow the receiver, or those of a list, by number or name") {
  const Folder folder;
  const auto senders = [&](const std::string& keys) {
    const std::string flows = folder.path("flows.csv");
    results_of(folder, on_star(R"({"pattern": "incast", "sizes": "1KiB", )" + keys + "}"), {"--flows", flows});
    return read_text_file(flows);
  };
  const std::string follow = senders(R"("receiver": 7, "senders": 2)");
  CHECK(follow.find(",host0,host7,1024,") != std::string::npos);
  CHECK(follow.find(",host1,host7,1024,") != std::string::npos);
  CHECK(lines_of(follow) == 3);
  CHECK(lines_of(senders(R"("receiver": 7)")) == 8);
  CHECK(senders(R"("senders": ["host5", 3])").find(",host3,host0,1024,") != std::string::npos);
}

TEST_CASE("pairs have sizes and starts of their own, and their times are those of the list") {
  const Folder folder;
  const std::string flows = folder.path("flows.csv");
  const std::string pairs =
      R"({"pattern": "pairs", "pairs": [{"from": 0, "to": "host1", "size": "10kB", "start": "5us"},
                                        {"from": 2, "to": 3, "size": "20kB"}]})";
  const nlohmann::json row = results_of(folder, on_star(pairs), {"--flows", flows})[0];
  CHECK(row["bytes"] == 0);
  CHECK(row["total_bytes"] == 30'000);
  const std::string text = read_text_file(flows);
  CHECK(text.find("host2,host3,20000,0.000000,3.000000,3.000000,3.000000,1") != std::string::npos);
  CHECK(text.find("host0,host1,10000,5.000000,7.000000,2.000000,2.000000,1") != std::string::npos);
}

TEST_CASE("a window measures rates, connections add flows, and rounds repeat messages") {
  const Folder folder;
  const nlohmann::json window = results_of(
      folder,
      on_star(
          R"({"pattern": "shift", "sizes": "100kB", "connections": 2, "window": {"begin": "1ms", "end": "2ms"}})"))[0];
  CHECK(window["throughput_ratio"].get<double>() == doctest::Approx(0.5).epsilon(0.001));
  CHECK(window["goodput_gbps"].get<double>() == doctest::Approx(80).epsilon(0.001));
  CHECK_FALSE(window.contains("completion_us_mean"));
  const nlohmann::json rounds =
      results_of(folder, on_star(R"({"pattern": "shift", "by": 3, "sizes": "10kB", "rounds": 5})"))[0];
  CHECK(rounds["messages"] == 40);
  CHECK(rounds["time_us"].get<double>() == doctest::Approx(5 * 2));
}

TEST_CASE("repetitions draw anew, and the row is the one of the median") {
  const Folder folder;
  std::vector<double> kept;
  const std::string random =
      on_star(R"({"pattern": "random", "messages": 8, "sizes": "100kB"})", R"("seed": 3, "seeds": 9, )");
  for (int seed = 3; seed < 12; ++seed) {
    const nlohmann::json row = results_of(folder, random, {"--set", "/seeds=1", "--seed", fmt::format("{}", seed)})[0];
    kept.push_back(row["throughput_ratio"]);
  }
  std::sort(kept.begin(), kept.end());
  CHECK(kept.front() < kept.back());
  const nlohmann::json row = results_of(folder, random)[0];
  CHECK(row["seeds"] == 9);
  CHECK(row["throughput_ratio"] == kept[4]);
  CHECK(row["throughput_ratio_p5"] == kept.front());
  CHECK(row["throughput_ratio_p95"] == kept.back());
}

TEST_CASE("a connection matrix of htsim is traffic, with its triggers") {
  const Folder folder;
  folder.write("two.cm",
               "Nodes 8\nConnections 3\nTriggers 1\n0->1 id 1 start 2000000 size 10000 send_done_trigger 1\n"
               "2->3 id 2 start 0 size 20000 recv_done_trigger 1\n1->2 id 3 trigger 1 size 10000\n"
               "trigger id 1 barrier count 2\n");
  const std::string flows = folder.path("flows.csv");
  const nlohmann::json row =
      results_of(folder, on_star(R"({"pattern": "htsim", "file": "two.cm"})"), {"--flows", flows})[0];
  CHECK(row["messages"] == 3);
  CHECK(read_text_file(flows).find("host1,host2,10000,4.000000,6.000000,2.000000") != std::string::npos);
}

TEST_CASE("what a connection matrix gets wrong is said with its line") {
  struct Wrong {
    const char* text;
    int line;
    const char* says;
  };
  const Folder folder;
  const std::vector<Wrong> wrong = {
      {"Nodes 8\n0->0 start 0 size 1\n", 2, "host 0 sends to itself"},
      {"0->1 start 0\n", 1, "no size"},
      {"0->1 start 0 size 1 trigger 7\n", 1, "no trigger 7"},
      {"0->x start 0 size 1\n", 1, "receiver"},
      {"0->1 start 0 size\n", 1, "no value"},
      {"0->1 start 0 size 1 colour 3\n", 1, "colour"},
      {"Connections 2\n0->1 start 0 size 1\n", 0, "says 2 connections and has 1"},
      {"0->1 size 1 trigger 1 send_done_trigger 1\ntrigger id 1 oneshot\n", 2, "never fires"},
      {"0->1 size 1 trigger 1\ntrigger id 1 multishot\n", 2, "multishot"},
      {"trigger id 1 oneshot\ntrigger id 1 oneshot\n", 2, "on line 1 already"},
      {"hello\n", 1, "hello"},
      {"Nodes 8\n", 0, "no flow"}};
  for (const Wrong& each : wrong) {
    CAPTURE(each.text);
    folder.write("wrong.cm", each.text);
    const nlohmann::json problem = problem_of(folder, on_star(R"({"pattern": "htsim", "file": "wrong.cm"})"));
    CHECK(says(problem, each.says));
    CHECK(problem["line"] == each.line);
  }
  folder.write("wide.cm", "0->8 start 0 size 1\n");
  CHECK(says(problem_of(folder, on_star(R"({"pattern": "htsim", "file": "wide.cm"})")), "hosts go from 0 to 7"));
}

TEST_CASE("bad traffic is refused by name") {
  struct Wrong {
    const char* traffic;
    const char* code;
    const char* says;
  };
  const Folder folder;
  const std::vector<Wrong> wrong = {
      {R"({"pattern": "incast", "sizes": "1MiB", "senders": 8})", "too-many-senders", "at most 7"},
      {R"({"pattern": "bit_reversal", "sizes": "1MiB", "endpoints": 2})", "wrong-endpoints", "needs four at least"},
      {R"({"pattern": "transpose", "sizes": "1MiB", "endpoints": 3})", "wrong-endpoints", "needs four at least"},
      {R"({"pattern": "incast", "sizes": "1MiB", "receiver": "hots3"})", "unknown-endpoint", "did you mean 'host3'?"},
      {R"({"pattern": "incast", "sizes": "1MiB", "receiver": 8})", "no-such-endpoint", "from 0 to 7"},
      {R"({"pattern": "incast", "sizes": "1MiB", "senders": [1, 0]})", "to-itself", "endpoint 0"},
      {R"({"pattern": "permutation", "sizes": "0B"})", "out-of-range", "at least 1B"},
      {R"({"pattern": "permutation"})", "missing-key", "sizes"},
      {R"({"pattern": "permutation", "sizes": "1MiB", "endpoints": 9})", "too-many-endpoints", "at most 8"},
      {R"({"pattern": "permutation", "sizes": "1MiB", "endpoints": 1})", "too-few-endpoints", "nobody"},
      {R"({"pattern": "shift", "sizes": "1MiB", "by": 8})", "to-itself", "shift by 8"},
      {R"({"pattern": "transpose", "sizes": "1MiB"})", "wrong-endpoints", "\\\"endpoints\\\": 4"},
      {R"({"pattern": "bit_reversal", "sizes": "1MiB", "endpoints": 6})", "wrong-endpoints", "\\\"endpoints\\\": 4"},
      {R"({"pattern": "pairs", "pairs": [{"from": 1, "to": 1, "size": "1KiB"}]})", "to-itself", "endpoint 1"},
      {R"({"pattern": "pairs", "pairs": [{"from": 1, "to": 2, "size": "0B"}]})", "out-of-range", "at least"},
      {R"({"pattern": "pairs", "pairs": [{"from": 1, "to": 2}]})", "missing-key", "sizes"},
      {R"({"pattern": "pairs", "pairs": [{"from": 1, "to": 2, "size": "1B"}], "sizes": "1B"})", "unknown-key",
       "its own"},
      {R"({"pattern": "ring", "sizes": "1B"})", "unknown-name", "permutation"},
      {R"({"pattern": "shift", "sizes": "1B", "rounds": 2, "window": {"end": "1ms"}})", "conflict", "leave out"},
      {R"({"pattern": "shift", "sizes": "1B", "window": {"begin": "2ms", "end": "1ms"}})", "empty-range", "earlier"},
      {R"({"pattern": "all_to_all", "sizes": "1B", "connections": 60000, "rounds": 10})", "too-many-messages",
       "fewer"}};
  for (const Wrong& each : wrong) {
    CAPTURE(each.traffic);
    const nlohmann::json problem = problem_of(folder, on_star(each.traffic));
    CAPTURE(problem);
    CHECK(problem["code"] == each.code);
    CHECK(says(problem, each.says));
  }
}

TEST_CASE("a case has a collective or traffic, and traffic has neither profile nor measurement nor trace") {
  const Folder folder;
  const char* shift = R"({"pattern": "shift", "sizes": "1KiB"})";
  CHECK(says(problem_of(folder, on_star(shift, R"("collective": {"kind": "barrier"}, )")),
             "here are collective, traffic"));
  const std::string neither = small_with(
      "\"collective\": {\"kind\": \"all_reduce\", \"algorithm\": \"ring\", \"sizes\": \"1KiB..4KiB\"}", "\"seed\": 1");
  CHECK(problem_of(folder, neither)["hint"] ==
        "write one of the keys collective, traffic, parameter_server, expert_exchange, training, trace, workload, "
        "serving, circuits, layouts, side_by_side, recommender");
  CHECK(says(problem_of(folder, on_star(shift, R"("profile": "nccl-h100-nvswitch", )")), "no software"));
  CHECK(says(problem_of(folder, on_star(shift, R"("verify": {"measurement": "h100_1n_nvls_allreduce_dgxc"}, )")),
             "measurements are of collectives"));
  const std::string file = folder.write("s.json", on_star(shift));
  CHECK(athanor_run({"run", file, "--trace", folder.path("t.json")}).says("--flows"));
  CHECK(athanor_run({"run", file, "--sizes", "0B"}).code == 2);
  CHECK(athanor_run({"validate", file, "--json"}).json()["results"][0]["cases"][0]["traffic"] == "shift");
}

TEST_CASE("ports are written for traffic and for collectives, and CSV holds both kinds of results") {
  const Folder folder;
  const std::string file = folder.write("s.json", on_star(R"({"pattern": "shift", "sizes": "1MiB"})", R"("cases": [
      {"name": "shift", "network": {"level": "packet", "transport": {"header": "0B"}}},
      {"name": "ring", "traffic": null, "collective": {"kind": "all_reduce", "algorithm": "ring", "sizes": "1MiB"}}], )"));
  const std::string ports = folder.path("ports.csv");
  const Ran ran = athanor_run({"run", file, "--ports", ports, "--csv"});
  REQUIRE(ran.code == 0);
  CHECK(lines_of(ran.out) == 3);
  const std::string text = read_text_file(ports);
  CHECK(text.find("shift,1048576,shift,host0,leaf0,network,1,10,1048576,16384,") != std::string::npos);
  CHECK(text.find("ring,1048576,ring,host0,leaf0,network,8,10,") != std::string::npos);  // eight equal ports
  CHECK(lines_of(text) == 1 + 16 + 2);
}

TEST_CASE("the table shows what traffic kept, and dashes where a window has no times of completion") {
  const Folder folder;
  const std::string shift =
      on_star(R"({"pattern": "shift", "sizes": "1MiB", "window": {"end": "1ms"}})", R"("seeds": 3, )");
  const Ran ran = athanor_run({"run", folder.write("s.json", shift)});
  REQUIRE(ran.code == 0);
  CHECK(ran.says("# traffic      shift"));
  CHECK(ran.says("ratio p95"));
  CHECK(ran.says("each row is the run of the median throughput ratio"));
  CHECK(ran.says("         -"));
  CHECK(ran.says("#   busiest link "));
}
