#include <algorithm>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/test_files.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// Sixteen hosts that all send to all over two spines: who meets whom depends on the seed.
std::string scenario(const std::string& seeds, const std::string& routing = "ecmp") {
  return R"({"cluster": {"nodes": 16, "fabric": {"kind": "fat_tree", "leaves": 4, "spines": 4,
      "link": {"rate": "10GB/s", "latency": "500ns"}}},
    "network": {"routing": ")" +
         routing + R"("}, )" + seeds + R"(
    "collective": {"kind": "all_reduce", "algorithm": "recursive_doubling", "sizes": "1MiB"}})";
}

}  // namespace

TEST_CASE("a row of several seeds is the median of their runs, with percentiles that are runs too") {
  const Folder folder;
  std::vector<double> times;
  const std::vector<int> seeds = {3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  for (const int seed : seeds) {
    const std::string one = folder.write("one.json", scenario(fmt::format("\"seed\": {},", seed)));
    times.push_back(athanor_run({"run", one, "--json"}).json()["results"][0]["time_us"]);
  }
  std::sort(times.begin(), times.end());
  CHECK(times.front() < times.back());
  const std::string counted = folder.write("counted.json", scenario("\"seed\": 3, \"seeds\": 10,"));
  const std::string listed = folder.write("listed.json", scenario("\"seeds\": [12, 11, 10, 9, 8, 7, 6, 5, 4, 3],"));
  for (const std::string& file : {counted, listed}) {
    const nlohmann::json json = athanor_run({"run", file, "--json"}).json();
    const nlohmann::json& row = json["results"][0];
    CHECK(row["seeds"] == 10);
    CHECK(row["time_us"] == times[4]);
    CHECK(row["time_us_p5"] == times.front());
    CHECK(row["time_us_p95"] == times.back());
    const double busbw = row["busbw_gbps"];
    CHECK(row["busbw_gbps_p5"].get<double>() == doctest::Approx(busbw * times[4] / times.back()));
    CHECK(row["busbw_gbps_p95"].get<double>() == doctest::Approx(busbw * times[4] / times.front()));
    CHECK(json["manifest"]["seeds"].size() == 10);
  }
}

TEST_CASE("tables and CSV show the spread, and nothing of it where there is one seed") {
  const Folder folder;
  const std::string many = folder.write("many.json", scenario("\"seeds\": 4,"));
  const Ran table = athanor_run({"run", many});
  CHECK(table.says("flow, 4 seeds: 1 to 4; time, algbw and busbw are those of the median"));
  CHECK(table.says("time p5  time p95  bus p5 bus p95"));
  CHECK(athanor_run({"run", many, "--csv"}).says(",seeds,time_us_p5,time_us_p95,busbw_gbps_p5,busbw_gbps_p95\n"));
  const std::string one = folder.write("one.json", scenario(""));
  CHECK_FALSE(athanor_run({"run", one}).says("p95"));
  CHECK_FALSE(athanor_run({"run", one, "--csv"}).says("p95"));
}

TEST_CASE("where routes do not depend on the seed, all seeds take as long") {
  const Folder folder;
  const std::string file = folder.write("s.json", scenario("\"seeds\": 5,", "d_mod_k"));
  const nlohmann::json row = athanor_run({"run", file, "--json"}).json()["results"][0];
  CHECK(row["time_us_p5"] == row["time_us"]);
  CHECK(row["time_us_p95"] == row["time_us"]);
}

TEST_CASE("every algorithm of each has its own spread, and a trace is of one seed") {
  const Folder folder;
  std::string text = scenario("\"seeds\": 3,");
  text.replace(text.find("\"recursive_doubling\""), 20, "\"each\"");
  const nlohmann::json json = athanor_run({"run", folder.write("each.json", text), "--json"}).json();
  CHECK(json["results"].size() > 5);
  for (const nlohmann::json& row : json["results"]) { CHECK(row["time_us_p5"] <= row["time_us_p95"]); }
  const std::string many = folder.write("many.json", scenario("\"seeds\": 2,"));
  const Ran traced = athanor_run({"run", many, "--trace", folder.path("trace.json")});
  CHECK(traced.code == 2);
  CHECK(traced.says("one seed"));
}

TEST_CASE("no seeds, or none at all, are refused") {
  const Folder folder;
  CHECK(athanor_run({"run", folder.write("s.json", scenario("\"seeds\": 0,"))}).code == 3);
  CHECK(athanor_run({"run", folder.write("s.json", scenario("\"seeds\": [],"))}).code == 3);
}

TEST_CASE("kinds that make no row of several runs refuse seeds, however many and wherever they stand") {
  const Folder folder;
  const std::string dgx = R"("cluster": {"node": "DGX-H100"}, )";
  const std::string training = dgx + R"("training": {"model": "GPT-3-175B", "micro_batch": 1, "global_batch": 8,
                                                     "sequence": 2048, "parallel": {"tensor": 8}})";
  const std::string trace =
      dgx + R"("trace": {"files": ")" + std::string(ATHANOR_TEST_SCENARIOS) + R"(/traces/ring.goal"})";
  const std::string jobs = R"("cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"rate": "10GB/s",
    "latency": "500ns"}}}, "collective": {"kind": "all_reduce", "sizes": "1KiB", "jobs": 2})";
  for (const std::string& kind : {training, trace, jobs}) {
    CAPTURE(kind);
    for (const char* seeds : {"3", "[4]", "[1, 2]"}) {
      const nlohmann::json problem = problem_of(folder, fmt::format(R"({{"seeds": {}, {}}})", seeds, kind));
      CHECK(problem["code"] == "no-effect");
      CHECK(problem["pointer"] == "/seeds");
      CHECK(problem["message"].get<std::string>().find("one seed") != std::string::npos);
    }
    const nlohmann::json in_case = problem_of(folder, fmt::format(R"({{{}, "cases": [{{"seeds": 2}}]}})", kind));
    CHECK(in_case["pointer"] == "/cases/0/seeds");
    CHECK(athanor_run({"run", folder.write("s.json", "{" + kind + "}"), "--set", "/seeds=2"}).code == 3);
    CHECK(athanor_run({"run", folder.write("s.json", "{" + kind + "}"), "--seed", "2"}).code == 0);
  }
}

TEST_CASE("more queue pairs make what depends on the seed depend on it less") {
  const Folder folder;
  const auto spread = [&](int pairs) {
    std::string text = scenario("\"seeds\": 16,");
    text.replace(text.find(R"("routing")"), 9, fmt::format(R"("queue_pairs": {}, "routing")", pairs));
    const nlohmann::json row = athanor_run({"run", folder.write("s.json", text), "--json"}).json()["results"][0];
    return std::pair(row["time_us"].get<double>(), row["time_us_p95"].get<double>());
  };
  const auto [one, worst_one] = spread(1);
  const auto [many, worst_many] = spread(32);
  CHECK(many < one);
  CHECK(worst_many < worst_one);
}

TEST_CASE("a seed on the command line begins the count, and takes the place of a list") {
  const Folder folder;
  const std::string counted = folder.write("counted.json", scenario("\"seeds\": 3,"));
  CHECK(athanor_run({"run", counted, "--seed", "7"}).says("3 seeds: 7 to 9"));
  const std::string listed = folder.write("listed.json", scenario("\"seeds\": [1, 4],"));
  CHECK(athanor_run({"run", listed}).says("2 seeds: 1, 4"));
  CHECK(athanor_run({"run", listed, "--seed", "7"}).says("flow, seed 7\n"));
}
