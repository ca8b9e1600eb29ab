#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/json_text.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// Sixteen hosts on leaves of four below two spines or more, whose switches have such engines, with this in
/// `collective`.
std::string tenants(const std::string& collective, const std::string& aggregation = R"("engine": "sharp_v2")",
                    const std::string& more = "") {
  return fmt::format(R"({{
  "cluster": {{"nodes": 16, "fabric": {{"kind": "fat_tree", "tiers": 2, "radix": 8,
    "link": {{"rate": "10GB/s", "latency": "500ns"}}}}}},
  "network": {{"aggregation": {{{}}}}}, {}
  "collective": {{"kind": "all_reduce", "algorithm": "aggregation_tree", "sizes": "1MiB", {}}}
}})",
                     aggregation, more, collective);
}

Ran run(const Folder& folder, const std::string& scenario, const std::vector<std::string>& more = {"--json"}) {
  std::vector<std::string> words{"run", folder.write("s.json", scenario)};
  words.insert(words.end(), more.begin(), more.end());
  return athanor_run(words);
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
bool says(const nlohmann::json& problem, const std::string& part) { return says(text_of(problem), part); }

constexpr const char* kFallsBack = R"("engine": "sharp_v2", "on_exhausted": "fallback", "fallback": ["ring"])";

}  // namespace

TEST_CASE("jobs on blocks of endpoints get a tree each and run as if alone") {
  const Folder folder;
  const nlohmann::json result = result_of(folder, tenants(R"("jobs": 2)"));
  CHECK(result["ranks"] == 8);
  REQUIRE(result["jobs"].size() == 2);
  for (const nlohmann::json& job : result["jobs"]) {
    CHECK(job["algorithm"] == "aggregation_tree");
    CHECK(job["protocol"] == "SAT");
    CHECK(job["time_us"] == job["alone_time_us"]);
    CHECK(job["slowdown"] == 1);
    CHECK(job["roots"].size() == 1);
    CHECK(job["fell_back"] == "");
    CHECK(job["time_us"] == result["time_us"]);
  }
  CHECK(result["jobs"][0]["roots"] != result["jobs"][1]["roots"]);
}

TEST_CASE("interleaved jobs share leaves: under v2 the second falls back, under v3 it does not, and turns wait") {
  const Folder folder;
  const std::string interleaved = R"("jobs": 2, "placement": "interleaved")";
  const nlohmann::json v2 = result_of(folder, tenants(interleaved, kFallsBack));
  CHECK(v2["jobs"][0]["algorithm"] == "aggregation_tree");
  CHECK(v2["jobs"][1]["algorithm"] == "ring");
  CHECK(v2["jobs"][1]["fell_back"] == "aggregation_tree: the streaming tree of leaf0 is held by job 0");
  CHECK(v2["jobs"][1]["roots"].empty());
  const nlohmann::json v3 = result_of(folder, tenants(interleaved, R"("engine": "sharp_v3")"));
  CHECK(v3["jobs"][1]["algorithm"] == "aggregation_tree");
  const nlohmann::json turns = result_of(folder, tenants(interleaved, R"("engine": "sharp_v2", "sharing": "turns")"));
  // Both have begun, which takes a streaming operation 5 us, when the first one ends.
  const double first = turns["jobs"][0]["time_us"];
  CHECK(turns["jobs"][1]["waited_us"].get<double>() == doctest::Approx(first - 5));
  CHECK(turns["jobs"][1]["time_us"].get<double>() == doctest::Approx(2 * first - 5));
}

TEST_CASE("the table has a line for each job, and CSV a record") {
  const Folder folder;
  const std::string scenario = tenants(R"("jobs": 2, "placement": "interleaved", "ranks": 4)", kFallsBack);
  const Ran table = run(folder, scenario, {});
  CAPTURE(table.out);
  CHECK(table.says("2 jobs of 4 ranks"));
  CHECK(table.says("slowdown"));
  CHECK(table.says("root spine"));
  CHECK(table.says("fell back: aggregation_tree: the streaming tree of leaf0 is held by job 0"));
  const Ran csv = run(folder, scenario, {"--csv"});
  CHECK(std::count(csv.out.begin(), csv.out.end(), '\n') == 3);
  CHECK(csv.says(",job,"));
  const Ran valid = athanor_run({"validate", folder.path("s.json"), "--json"});
  CHECK(valid.json()["results"][0]["cases"][0]["jobs"] == 2);
  CHECK(run(folder, scenario, {"--quiet", "--ports=" + folder.path("ports.csv"), "--trace=" + folder.path("t.json")})
            .code == 0);
  CHECK(says(read_text_file(folder.path("ports.csv")), "2 jobs"));
}

TEST_CASE("more jobs than trees fail by the job's number where nothing is to fall back on") {
  const Folder folder;
  const Ran ran = run(folder, tenants(R"("jobs": 4, "placement": "interleaved")"));
  CHECK(ran.code == 1);
  CHECK(ran.json()["error"]["code"] == "engines-exhausted");
  CHECK(says(text_of(ran.json()["error"]), "job 1: "));
  CHECK(says(text_of(ran.json()["error"]), "held by job 0"));
}

TEST_CASE("jobs that cannot be are refused by name") {
  const Folder folder;
  CHECK(says(problem_of(folder, tenants(R"("jobs": 0)")), "jobs"));
  CHECK(says(problem_of(folder, tenants(R"("jobs": 3, "ranks": 6)")), "3 jobs of 6 ranks, but the cluster has 16"));
  CHECK(says(problem_of(folder, tenants(R"("jobs": 17)")), "17 jobs of 0 ranks"));
  CHECK(says(problem_of(folder, tenants(R"("placement": "interleaved")")), "there is one job"));
  CHECK(says(problem_of(folder, tenants(R"("jobs": 2, "placement": "scattered")")), "interleaved"));
  CHECK(says(problem_of(folder, tenants(R"("jobs": 2, "root": 9)")), "ranks go from 0 to 7"));
  CHECK(says(problem_of(folder, tenants(R"("jobs": 2)", R"("engine": "sharp_v2")", R"("seeds": 3,)")), "one seed"));
  CHECK(says(problem_of(folder, tenants(R"("jobs": 2, "compute": "1us")")), "compute"));
  std::string each = tenants(R"("jobs": 2)");
  each.replace(each.find("aggregation_tree"), std::string("aggregation_tree").size(), "each");
  CHECK(says(problem_of(folder, each), "each of several jobs runs one algorithm"));
  CHECK(says(
      problem_of(folder, tenants(R"("jobs": 2)", R"("engine": "sharp_v2")", R"("traffic": {"pattern": "incast"},)")),
      "traffic"));
  const std::string measured = folder.write("m.json", measurement("all_reduce", 16, {{1048576, 100}}));
  CHECK(says(
      problem_of(folder, tenants(R"("jobs": 2)", R"("engine": "sharp_v2")", R"("verify": {"measurement": "m.json"},)")),
      "measurements are of one job"));
  CHECK(says(problem_of(folder, R"({"cluster": {"shared_memory": {"ranks": 4, "processors": 2}},
                                    "collective": {"kind": "all_reduce", "sizes": "1KiB", "jobs": 2}})"),
             "share one machine"));
}

// Up-links by destination modulo two: what goes to even hosts takes the first, so that each job has one of its own,
// alone as beside the other. Of a leaf's four hosts of a job 12/16 of what each sends leaves by it. Hashing uses both
// alone.
TEST_CASE("tables of d-mod-k give jobs on alternating hosts up-links of their own, hashing does not") {
  const Folder folder;
  const auto jobs_by = [&](const char* routing) {
    return result_of(folder, fmt::format(R"({{"network": {{"routing": "{}"}}, "cluster": {{"nodes": 32, "fabric": {{
      "kind": "fat_tree", "hosts_per_leaf": 8, "spines": 2, "link": {{"rate": "10GB/s", "latency": "500ns"}}}}}},
      "collective": {{"kind": "all_to_all", "algorithm": "direct", "sizes": "64MiB", "jobs": 2,
                      "placement": "interleaved"}}}})",
                                         routing))["jobs"];
  };
  for (const nlohmann::json& job : jobs_by("d_mod_k")) {
    CHECK(job["slowdown"] == 1);
    CHECK(job["time_us"].get<double>() == doctest::Approx(4 * 12.0 / 16 * 67'108'864 / 10'000).epsilon(0.001));
  }
  for (const nlohmann::json& job : jobs_by("ecmp")) { CHECK(job["slowdown"] > 1.5); }
}
