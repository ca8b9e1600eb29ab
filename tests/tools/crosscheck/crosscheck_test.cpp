#include <set>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/error.hpp"
#include "tests/test_files.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"
#include "tools/crosscheck/machine/comparison.hpp"
#include "tools/crosscheck/machine/measured_collectives.hpp"

using namespace athanor;

namespace {

const std::string kProfile = std::string(ATHANOR_TEST_SCENARIOS) + "/profiles/xeon-2-processors-threads.json";

/// With a profile that is there, few sizes and iterations.
Ran checked(std::vector<std::string> options) {
  options.insert(options.begin(), {"crosscheck", "--quick", "--ranks", "2", "--sizes", "512B", "--algorithms", "1",
                                   "--profile", kProfile});
  return athanor_run(options);
}

/// Whose results are all wrong, after so many microseconds.
class Wrong final : public Backend {
 public:
  std::string_view name() const override { return "wrong"; }
  std::optional<std::uint32_t> ranks() const override { return 2; }
  TrialOutcome run(const Trial& trial) override {
    TrialOutcome outcome;
    outcome.durations.assign(trial.iterations, std::chrono::microseconds{7});
    outcome.wrong = 1;
    return outcome;
  }
  std::vector<std::pair<std::string, std::string>> facts() const override { return {}; }
};

}  // namespace

TEST_CASE("crosscheck measures, verifies and simulates every collective, in one table") {
  const Ran ran = checked({"--json"});
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  const nlohmann::json found = ran.json();
  CHECK(found["summary"]["wrong"] == 0);
  CHECK(found["summary"]["median_error"].get<double>() >= 0);
  std::set<std::string> collectives;
  for (const auto& row : found["results"]) {
    collectives.insert(row["collective"]);
    CHECK(row["measured_time_us"].get<double>() > 0);
    CHECK(row["time_us"].get<double>() > 0);
  }
  CHECK(collectives.size() == collective_kinds().size() - 1);  // all but all_to_all_v, which has a table of sizes
}

TEST_CASE("the table says what was left out, whether results were right and whether the machine was quiet") {
  const Ran ran = checked({});
  REQUIRE(ran.code == 0);
  CHECK(ran.out.find("all_to_all_v:") != std::string::npos);
  CHECK(ran.out.find("every result was what it should be") != std::string::npos);
  const bool quiet = ran.out.find("the machine was quiet") != std::string::npos;
  CHECK(quiet != (ran.out.find("# NOISY: ") != std::string::npos));
}

TEST_CASE("where the profile has intervals the table has them, whether times lie within them, and how many do") {
  const Library library(ATHANOR_TEST_SCENARIOS);
  const auto rows_at = [&](const std::vector<double>& times_us, const JsonValue& profile) {
    std::vector<MeasuredRow> measured;
    for (const double time : times_us) {
      measured.push_back({.collective = {.kind = CollectiveKind::all_reduce, .ranks = 2},
                          .algorithm = "ring",
                          .size = Bytes{512},
                          .median_us = time,
                          .times_us = {time}});
    }
    const JsonValue cluster = {{"node", "DGX-H100"}};
    return compared(
               measured, profile, [&](std::uint32_t) { return cluster; }, library)
        .rows;
  };
  const std::vector<ComparedRow> one = rows_at({1}, "nccl-h100-nvswitch");
  REQUIRE(one.size() == 1);
  REQUIRE(one.front().interval_us);
  const auto [low, high] = *one.front().interval_us;
  const std::vector<ComparedRow> all = rows_at({low, high, low * 0.999, high * 1.001}, "nccl-h100-nvswitch");
  std::vector<bool> inside;
  for (const ComparedRow& row : all) { inside.push_back(row.inside()); }
  CHECK(inside == std::vector<bool>{true, true, false, false});
  CHECK(coverage(all) == 0.5);
  CHECK(error_lines(all).find("; 2 of 4 within their intervals of 80 %\n") != std::string::npos);
  const std::string table = table_of(all);
  CHECK(table.find("interval") != std::string::npos);
  CHECK(table.find("(80 %)") != std::string::npos);
  CHECK(table.find("outside") != std::string::npos);
  CHECK(table_of(rows_at({low}, "nccl-h100-nvswitch")).find("outside") == std::string::npos);
  CHECK(json_of(all[2])["within_interval"] == JsonValue(false));
  CHECK(json_of(all[1])["time_high_us"].number() == high);
  const std::vector<ComparedRow> none = rows_at({low}, "ideal");
  CHECK_FALSE(coverage(none));
  CHECK(table_of(none).find("(80 %)") == std::string::npos);
  CHECK(error_lines(none).find("within") == std::string::npos);
  CHECK_FALSE(json_of(none.front()).contains("within_interval"));
}

TEST_CASE("a collective that the profile's library has not is left out, and a profile with a fault is refused") {
  const MeasuredRow barrier{.collective = {.kind = CollectiveKind::barrier, .ranks = 2},
                            .algorithm = "dissemination",
                            .median_us = 5,
                            .times_us = {5}};
  const auto with = [&](const JsonValue& profile) {
    return compared(
        {barrier}, profile,
        [](std::uint32_t) {
          return JsonValue{{"node", "DGX-H100"}};
        },
        Library(ATHANOR_TEST_SCENARIOS));
  };
  const Compared nccl = with("nccl-h100-nvswitch");
  CHECK(nccl.rows.empty());
  REQUIRE(nccl.left_out.size() == 1);
  CHECK(nccl.left_out.front().starts_with("barrier: nothing can run barrier of 0 B here: NCCL has no barrier"));
  CHECK(with("ideal").left_out.empty());
  CHECK(with("ideal").rows.size() == 1);
  CHECK_THROWS_AS(with(JsonValue{{"launch", "much"}}), ScenarioError);
}

TEST_CASE("an error above what is allowed, and wrong results, are told from success") {
  CHECK(checked({"--max-error", "0"}).code == 5);
  Wrong backend;
  const MeasuredCollectives measured = measured_collectives(
      backend, {.ranks = {2}, .sizes = {Bytes{64}}, .algorithms = 1}, [](const auto&) { return true; });
  REQUIRE_FALSE(measured.rows.empty());
  for (const MeasuredRow& row : measured.rows) { CHECK(row.wrong > 0); }
}

TEST_CASE("what crosscheck cannot do is refused with what to change") {
  const Ran backend = athanor_run({"crosscheck", "--backend", "smoke"});
  CHECK(backend.code == 2);
  CHECK(backend.says("choose from threads, mpi, cuda"));
  const Ran both = checked({"-o", "p.json"});
  CHECK(both.code == 2);
  CHECK(both.says("--profile finds none"));
}
