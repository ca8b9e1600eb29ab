#include <cmath>

#include <doctest/doctest.h>

#include "models/experiments/collective.hpp"
#include "models/software/profile.hpp"
#include "sim/error.hpp"
#include "tests/json_text.hpp"
#include "tests/sanitized.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"
#include "tools/calibrate/fit.hpp"
#include "tools/calibrate/profile_file.hpp"
#include "tools/calibrate/timing.hpp"
#include "tools/verify/ranking.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

ThreadCosts known_costs() {
  ThreadCosts costs;
  costs.start = 30_ns;
  costs.meeting = 450_ns;
  costs.lane = 20_ns;
  costs.dispatch = 25_ns;
  costs.primitive = 80_ns;
  costs.port = 10_ns;
  costs.remote_port = 150_ns;
  costs.poll_delay = 120_ns;
  costs.spin_time = 20_us;
  costs.wake = 40_us;
  costs.caches = {{48_KiB, 350_GBps, false, 10_GBps}, {2_MiB, 95_GBps, false, 20_GBps}, {24_MiB, 27_GBps, true, {}}};
  costs.memory_rate = 13_GBps;
  costs.remote_latency = 100_ns;
  return costs;
}

double off(auto found, auto known) {
  return std::abs(static_cast<double>(found.count()) / static_cast<double>(known.count()) - 1);
}

Record row(const char* algorithm, Time simulated, double measured_us) {
  Record result;
  result.put(kAlgorithm, algorithm);
  result.put(kBytes, 1024);
  result.put(kTime, microseconds(simulated));
  result.put(kMeasuredTime, measured_us);
  result.put(kError, microseconds(simulated) / measured_us - 1);
  return result;
}

/// The probes of two ranks, timed by the model itself.
std::vector<TimedProbe> timed_by_the_model(const ThreadCosts& costs, std::vector<std::uint32_t> ranks = {2}) {
  std::vector<TimedProbe> result;
  for (Probe& probe : probes({.ranks = std::move(ranks), .processors = 2})) {
    const Time time = simulate(probe, costs);
    result.push_back({std::move(probe), time, {}});
  }
  return result;
}

FitSettings two_processors() {
  FitSettings settings;
  settings.private_caches = {48_KiB, 2_MiB};
  settings.evaluations = 600;
  return settings;
}

}  // namespace

TEST_CASE("the fit finds costs that are as good as those with which the model itself was timed" *
          doctest::skip(kSanitized)) {
  const ThreadCosts known = known_costs();
  std::vector<TimedProbe> timed = timed_by_the_model(known);
  const ThreadCosts found = fit_thread_costs(timed, two_processors());
  for (std::size_t level = 0; level < 3; ++level) {
    CHECK(off(found.caches[level].rate, known.caches[level].rate) < 0.05);
  }
  CHECK(off(found.memory_rate, known.memory_rate) < 0.05);
  CHECK(off(found.caches[2].size, known.caches[2].size) < 0.1);
  CHECK(off(found.caches[1].remote_rate, known.caches[1].remote_rate) < 0.1);
  CHECK(off(found.remote_port, known.remote_port) < 0.25);
  CHECK(off(found.meeting, known.meeting) < 0.1);
  CHECK(off(found.wake, known.wake) < 0.1);
  CHECK(off(found.spin_time, known.spin_time) < 0.25);
  CHECK(error_of(timed, Probe::Purpose::hold_out).median < 0.02);
  CHECK(error_of(timed, Probe::Purpose::hold_out).points > 50);
}

TEST_CASE("a few wild measurements hardly move the fit" * doctest::skip(kSanitized)) {
  std::vector<TimedProbe> timed = timed_by_the_model(known_costs());
  for (std::size_t i = 5; i < timed.size(); i += 10) { timed[i].measured = Time{timed[i].measured.count() * 7}; }
  fit_thread_costs(timed, two_processors());
  CHECK(error_of(timed, Probe::Purpose::hold_out).median < 0.05);
}

TEST_CASE("a fit that ends where no machine is fails and names the cost" * doctest::skip(kSanitized)) {
  std::vector<TimedProbe> timed = timed_by_the_model(known_costs());
  for (TimedProbe& each : timed) { each.measured = Time{1 + each.measured.count() / 1000}; }
  CHECK_THROWS_WITH_AS(fit_thread_costs(timed, two_processors()), doctest::Contains("caches["), SimulationError);
}

TEST_CASE("a search of threads' costs that is cut short predicts every probe, if not well") {
  std::vector<TimedProbe> timed = timed_by_the_model(known_costs());
  FitSettings settings = two_processors();
  settings.evaluations = 10;
  const ThreadCosts found = fit_thread_costs(timed, settings);
  CHECK(found.caches.size() == 3);
  for (const TimedProbe& each : timed) { CHECK(each.simulated == simulate(each.probe, found)); }
}

TEST_CASE("a profile can be fitted again from what it holds") {
  std::vector<TimedProbe> timed = timed_by_the_model(known_costs());
  for (TimedProbe& each : timed) { each.simulated = each.measured; }
  CalibrationNote note{"here", "a machine", "2026-01-01", "1", {2}, two_processors()};
  const Folder folder;
  const std::string path = folder.write("profile.json", text_of(thread_profile(known_costs(), note, timed), 2));
  CalibrationNote again;
  const std::vector<TimedProbe> read = probes_of(path, again);
  REQUIRE(read.size() == timed.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    CHECK(read[i].probe.name == timed[i].probe.name);
    CHECK(read[i].measured == timed[i].measured);
  }
  CHECK(again.machine == "a machine");
  CHECK(again.fit.private_caches == two_processors().private_caches);
  const Ran quick = athanor_run({"calibrate", "--refit", path, "--quick", "--output", folder.path("new.json")});
  CHECK(quick.code == 2);
  CHECK(quick.says("--quick says what to measure, and --refit measures nothing"));
}

TEST_CASE("a profile without probes of today cannot be fitted again") {
  const Folder folder;
  const auto refit = [&](const std::string& text) {
    return athanor_run({"calibrate", "--refit", folder.write("old.json", text), "--output", folder.path("new.json")});
  };
  const std::string begin = R"({"machine": "m", "fitted": {"ranks": [2]}, "calibration": {"date": "d", "versions": "v",
    "processors": 2, "private_caches": ["48KiB"], "probes": [)";
  const Ran unknown = refit(begin + R"({"probe": "of old", "measured": "1us"}]}})");
  CHECK(unknown.code == 3);
  CHECK(unknown.says("none of its probes is one of this version"));
  CHECK(unknown.says("old.json:2"));
  const Ran untimed = refit(begin + R"({"probe": "of old"}]}})");
  CHECK(untimed.code == 3);
  CHECK(untimed.says("/calibration/probes/0"));
  CHECK(refit("{}").code == 3);
}

TEST_CASE("rankings tell the predicted order from the measured one, and what the choice costs") {
  const std::vector<Ranking> same = rankings({row("a", 1_us, 2), row("b", 2_us, 3), row("c", 3_us, 9)});
  REQUIRE(same.size() == 1);
  CHECK(same[0].correlation == doctest::Approx(1));
  CHECK(same[0].regret == 0);
  const std::vector<Ranking> turned = rankings({row("a", 1_us, 9), row("b", 2_us, 3), row("c", 3_us, 2)});
  CHECK(turned[0].correlation == doctest::Approx(-1));
  CHECK(turned[0].predicted == "a");
  CHECK(turned[0].measured == "c");
  CHECK(turned[0].regret == doctest::Approx(3.5));
  CHECK(rankings({row("a", 1_us, 2)}).empty());
  CHECK(algorithm_error_lines({row("a", 1_us, 2)}).find("median |error|  50.0 %") != std::string::npos);
}
