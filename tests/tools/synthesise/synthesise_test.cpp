#include <doctest/doctest.h>

#include "tests/sanitized.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// Hosts on one switch or in a ring, whose links take no time beside what they carry.
std::string scenario(const std::string& fabric, const std::string& collective) {
  return R"({"profile": "ideal", "cluster": {"fabric": )" + fabric + R"(}, "collective": {"sizes": "64MiB", )" +
         collective + "}}";
}

constexpr const char* kTorus =
    R"({"kind": "torus", "dimensions": [3, 3], "link": {"rate": "10GB/s", "latency": "1ns"}})";

std::string on_torus(const std::string& kind) { return scenario(kTorus, "\"kind\": \"" + kind + "\""); }

nlohmann::json synthesised(const Folder& folder, const std::string& text, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{"synthesise", folder.write("scenario.json", text), "--json"};
  words.insert(words.end(), more.begin(), more.end());
  const Ran ran = athanor_run(words);
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  return ran.json();
}

}  // namespace

TEST_CASE("a torus is bound by what enters a rank, and what is made for it comes within a twentieth") {
  const Folder folder;
  const nlohmann::json made = synthesised(folder, on_torus("all_gather"));
  // Eight ninths of 64 MiB over four links of 10 GB/s.
  CHECK(made["bound_us"].get<double>() == doctest::Approx(67108864.0 * 8 / 9 / 40e3).epsilon(1e-6));
  CHECK(made["reached"].get<double>() >= 0.95);
  CHECK(made["simulated"]["time_us"].get<double>() <= 1.05 * made["bound_us"].get<double>());
  CHECK(made["contenders"][0]["time_us"].get<double>() >= made["bound_us"].get<double>());
}

TEST_CASE("the optimum of ForestColl's two boxes is met, and nearly reached") {
  // 15 units enter a GPU over 300 + 25 GB/s; 30 enter two dies of one MI250 over 6 xGMI of 50 GB/s and 2 x 16 GB/s.
  for (const auto& [name, algbw] :
       {std::pair("two A100 boxes", 16.0 * 325 / 15), {"two MI250 boxes", 32.0 * 332 / 30}}) {
    CAPTURE(name);
    const Ran ran = athanor_run(
        {"synthesise", "../scenarios/synthesis/two_boxes.json", "--case", name, "--no-simulation", "--json"});
    REQUIRE(ran.code == 0);
    CHECK(1073741824.0 / 1e3 / ran.json()["bound_us"].get<double>() == doctest::Approx(algbw).epsilon(1e-5));
    CHECK(ran.json()["reached"].get<double>() >= 0.97);
    CHECK(ran.json()["simulated"].is_null());
  }
}

TEST_CASE("in a scenario it is an algorithm like others") {
  const Folder folder;
  for (const char* kind : {"all_gather", "reduce_scatter", "all_reduce", "all_to_all"}) {
    CAPTURE(kind);
    const nlohmann::json alone = synthesised(folder, on_torus(kind));
    const nlohmann::json row =
        result_of(folder, scenario(kTorus, "\"algorithm\": \"synthesised\", \"kind\": \"" + std::string(kind) + "\""));
    CHECK(row["algorithm"] == "synthesised");
    CHECK(row["time_us"] == alone["simulated"]["time_us"]);
    CHECK(row["time_us"].get<double>() >= alone["bound_us"].get<double>());
  }
  const nlohmann::json fastest =
      result_of(folder, scenario(kTorus, R"("kind": "all_gather", "algorithm": ["ring", "synthesised"])"));
  CHECK(fastest["algorithm"] == "synthesised");
}

TEST_CASE("its XML is proven, simulated to the same time, and carried out on threads") {
  const Folder folder;
  for (const char* kind : {"all_gather", "reduce_scatter", "all_reduce", "all_to_all"}) {
    CAPTURE(kind);
    const std::string file = folder.path("own.xml");
    const nlohmann::json made = synthesised(folder, on_torus(kind), {"-o", file});
    CHECK(made["file"] == file);
    const Ran imported = athanor_run({"import", file});
    CHECK(imported.code == 0);
    CHECK(imported.says("proven"));
    const nlohmann::json again = result_of(
        folder, scenario(kTorus, R"("algorithm": {"msccl": "own.xml"}, "kind": ")" + std::string(kind) + "\""));
    CHECK(again["time_us"].get<double>() >= made["bound_us"].get<double>());
    const Ran measured = athanor_run(
        {"measure", "--algorithm", file, "--iterations", "2", "--warm-up", "1", "--sizes", "181440B", "--json"});
    CHECK(measured.code == 0);
    const nlohmann::json rows = measured.json()["results"];
    CHECK(!rows.empty());
    for (const auto& row : rows) { CHECK(row["wrong"] == 0); }
  }
}

TEST_CASE("what a command cannot synthesise it refuses by name") {
  const Folder folder;
  const auto refused = [&](const std::string& text, const std::string& reason,
                           const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"synthesise", folder.write("bad.json", text)};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = athanor_run(words);
    CAPTURE(ran.err);
    CHECK(ran.code != 0);
    CHECK(ran.says(reason));
    CHECK(ran.out.empty());
  };
  refused(on_torus("broadcast"), "and broadcast cannot");
  refused(scenario(kTorus, R"("kind": "all_gather", "ranks": 1)"), "one rank has nobody to send to");
  refused(on_torus("all_gather"), "no-such-folder", {"-o", folder.path("no-such-folder/own.xml")});
  refused(R"({"cluster": {"fabric": {"kind": "star", "link": {"rate": "10GB/s", "latency": "1ns"}}, "nodes": 4},
             "traffic": {"pattern": "permutation", "sizes": "1MiB"}})",
          "synthesise is for one collective");
}

TEST_CASE("what a scenario cannot have synthesised it says at the algorithm") {
  const Folder folder;
  const auto problem = problem_of(folder, scenario(kTorus, R"("kind": "broadcast", "algorithm": "synthesised")"));
  CHECK(problem["code"] == "algorithm-does-not-fit");
  CHECK(problem["pointer"] == "/collective/algorithm");
  CHECK(problem["message"].get<std::string>().find("broadcast cannot") != std::string::npos);
  const auto jobs =
      problem_of(folder, scenario(kTorus, R"("kind": "all_gather", "algorithm": "synthesised", "jobs": 3)"));
  CHECK(jobs["message"].get<std::string>().find("several jobs") != std::string::npos);
}
