#include <doctest/doctest.h>
#include <fmt/core.h>

#include "tests/json_text.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;
using doctest::Approx;

namespace {

/// On two DGX H100.
std::string exchange(const std::string& keys, const std::string& more = "") {
  return fmt::format(
      R"({{"cluster": {{"node": "DGX-H100", "nodes": 2, "fabric": {{"kind": "star", "switch": "QM9700"}}}}, {}
          "expert_exchange": {{"experts": 64, "chosen": 4, "hidden": 1024, "tokens": 1000, {}}}}})",
      more, keys);
}

/// Code and message of the first problem.
std::string problem_of(const std::string& keys, const std::string& more = "") {
  const Folder folder;
  const Ran ran = athanor_run({"run", folder.write("s.json", exchange(keys, more)), "--json"});
  CAPTURE(ran.out);
  REQUIRE(ran.code == 3);
  const nlohmann::json error = ran.json()["error"];
  return error["code"].get<std::string>() + ": " + error["message"].get<std::string>();
}

bool begins(const std::string& text, const std::string& with) {
  CAPTURE(text);
  CHECK(text.substr(0, with.size()) == with);
  return text.substr(0, with.size()) == with;
}

nlohmann::json rows_of(const std::string& keys) {
  const Folder folder;
  return athanor_run({"run", folder.write("s.json", exchange(keys)), "--json", "--quiet"}).json()["results"];
}

}  // namespace

TEST_CASE("an exchange has a row for each way, with bytes and bandwidth as DeepEP counts, beside what was measured") {
  const nlohmann::json rows = rows_of(R"("kind": "low_latency", "dispatch": "fp8", "measured_time": {"combine": "1ms"},
                                         "measured_bandwidth": {"dispatch": "10GB/s"})");
  REQUIRE(rows.size() == 2);
  const double dispatched = 1000.0 * 4 * (1024 + 32 + 16);
  CHECK(rows[0]["way"] == "dispatch");
  CHECK(rows[0]["counted_bytes"].get<double>() == Approx(dispatched));
  CHECK(rows[0]["bandwidth_gbps"].get<double>() == Approx(dispatched / rows[0]["time_us"].get<double>() * 1e-3));
  CHECK(rows[0]["measured_time_us"].get<double>() == Approx(dispatched / 10e9 * 1e6));
  CHECK(rows[1]["way"] == "combine");
  CHECK(rows[1]["counted_bytes"].get<double>() == Approx(1000.0 * 4 * 2048));
  CHECK(rows[1]["error"].get<double>() == Approx(rows[1]["time_us"].get<double>() / 1000 - 1));
}

TEST_CASE("unequal experts, replicas and capacity are told") {
  const nlohmann::json even = rows_of(R"("kind": "deep_ep")")[0];
  CHECK(even["busiest_rank"].get<double>() == Approx(1));
  CHECK(even["dropped_choices"] == 0);
  const nlohmann::json uneven = rows_of(R"("kind": "deep_ep", "zipf": 1)")[0];
  CHECK(uneven["busiest_rank"].get<double>() > 1.5);
  CHECK(uneven["time_us"].get<double>() > even["time_us"].get<double>());
  const nlohmann::json spare = rows_of(R"("kind": "deep_ep", "zipf": 1, "redundant": 16)")[0];
  CHECK(spare["busiest_rank"].get<double>() < uneven["busiest_rank"].get<double>());
  CHECK(rows_of(R"("kind": "deep_ep", "zipf": 1, "capacity_factor": 1)")[0]["dropped_choices"].get<double>() > 0.1);
}

TEST_CASE("what an exchange cannot do is refused, with what would do") {
  CHECK(begins(problem_of(R"("kind": "pairwise")"), "no-such-exchange: pairwise exchanges are a collective"));
  CHECK(begins(problem_of(R"("kind": "deepep")"), "unknown-name: "));
  CHECK(begins(problem_of(R"("kind": "low_latency", "most_nodes": 1)"),
               "experts-do-not-fit: \"most_nodes\" has no effect"));
  CHECK(begins(problem_of(R"("kind": "low_latency", "multiprocessors": 8)"),
               "experts-do-not-fit: \"multiprocessors\" has"));
  CHECK(begins(problem_of(R"("kind": "deep_ep", "most_nodes": 2)"), "no-effect: "));
  CHECK(begins(problem_of(R"("kind": "deep_ep", "ranks": 17)"), "too-few-endpoints: 17 ranks on 16 endpoints"));
  CHECK(
      begins(problem_of(R"("kind": "deep_ep", "ranks": 12)"), "experts-do-not-fit: 64 experts with 0 redundant ones"));
  CHECK(begins(problem_of(R"("kind": "deep_ep", "ranks": 12, "redundant": 8)"),
               "experts-do-not-fit: 12 expert ranks are spread unevenly"));
  CHECK(begins(problem_of(R"("kind": "deep_ep", "loads": [1, 2])"), "experts-do-not-fit: \"loads\" has 2 entries"));
  CHECK(begins(problem_of(R"("kind": "deep_ep", "chosen": 65)"), "duplicate"));
  CHECK(begins(problem_of(R"("kind": "deep_ep", "measured_time": {"dispatch": "1ms"},
                             "measured_bandwidth": {"dispatch": "1GB/s"})"),
               "conflict: \"measured_time\" says the same"));
}
