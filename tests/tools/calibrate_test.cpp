#include <cmath>

#include <doctest/doctest.h>

#include "tools/calibrate/fit.hpp"
#include "tools/report/ranking.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

ThreadCosts known_costs() {
  ThreadCosts costs;
  costs.start = 30_ns;
  costs.meeting = 450_ns;
  costs.lane = 20_ns;
  costs.turn = 25_ns;
  costs.primitive = 80_ns;
  costs.port = 10_ns;
  costs.remote_port = 150_ns;
  costs.notice = 120_ns;
  costs.patience = 20_us;
  costs.wake = 40_us;
  costs.caches = {{48_KiB, 350_GBps, false, 10_GBps}, {2_MiB, 95_GBps, false, 20_GBps}, {24_MiB, 27_GBps, true, {}}};
  costs.memory_rate = 13_GBps;
  costs.remote_latency = 100_ns;
  return costs;
}

double off(auto found, auto known) {
  return std::abs(static_cast<double>(found.count()) / static_cast<double>(known.count()) - 1);
}

ResultRow row(const char* algorithm, Time simulated, double measured_us) {
  ResultRow result;
  result.run.algorithm = algorithm;
  result.run.size = 1_KiB;
  result.run.time = simulated;
  result.measured_us = measured_us;
  return result;
}

}  // namespace

TEST_CASE("the fit finds the costs with which the model itself was timed") {
  const ThreadCosts known = known_costs();
  ModelTiming machine(known);
  FitSettings settings;
  settings.private_caches = {48_KiB, 2_MiB};
  settings.ranks = {2, 4};
  settings.largest = 128_MiB;
  const ThreadCosts found = fit_thread_costs(machine, settings);
  for (std::size_t level = 0; level < 3; ++level) {
    CHECK(off(found.caches[level].rate, known.caches[level].rate) < 0.05);
  }
  CHECK(off(found.memory_rate, known.memory_rate) < 0.05);
  CHECK(off(found.caches[2].size, known.caches[2].size) < 0.1);
  CHECK(off(found.caches[0].remote_rate, known.caches[0].remote_rate) < 0.1);
  CHECK(off(found.caches[1].remote_rate, known.caches[1].remote_rate) < 0.1);
  CHECK(off(found.primitive, known.primitive) < 0.1);
  CHECK(off(found.remote_port, known.remote_port) < 0.1);
  CHECK(off(found.notice, known.notice) < 0.2);
  CHECK(off(found.meeting, known.meeting) < 0.1);
  CHECK(off(found.remote_latency, known.remote_latency) < 0.1);
  CHECK(off(found.wake, known.wake) < 0.05);
  CHECK(off(found.patience, known.patience) < 0.25);
  CHECK(error_of(hold_out(machine, found, settings)).median < 0.03);
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
