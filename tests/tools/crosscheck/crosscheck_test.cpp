#include <set>

#include <doctest/doctest.h>

#include "tests/test_files.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"
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
