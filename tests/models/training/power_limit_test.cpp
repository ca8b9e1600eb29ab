#include "models/training/power_limit.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

namespace athanor {

TEST_CASE(
    "the clock under a power limit is the cube root of the dynamic power that is left, then in proportion to it") {
  for (const double idle : {0.0, 70.0}) {
    CAPTURE(idle);
    CHECK(clock_share(700, 700, idle) == 1);
    for (const double dynamic : {0.95, 0.8, 0.6, 0.545}) {
      CHECK(std::pow(clock_share(idle + dynamic * (700 - idle), 700, idle), 3) == doctest::Approx(dynamic));
    }
    const auto low = [&](double dynamic) { return clock_share(idle + dynamic * (700 - idle), 700, idle); };
    CHECK(low(0.2) == doctest::Approx(2 * low(0.1)));
    CHECK(low(0.5449999) == doctest::Approx(low(0.545)).epsilon(1e-5));  // the two laws meet
  }
  CHECK(clock_share(600, 700, 70) > clock_share(500, 700, 70));
}

TEST_CASE("the law meets the stages of GPT-3 175B on A100 that Perseus measured at fixed clocks within 3 %") {
  struct Measured {
    double time_s, energy_j;
  };
  // Clocks of 1410 MHz and, in this order, 1320, 1230, 1140, 1080, 1020, 960, 900 and 855.
  const std::vector<std::vector<Measured>> passes{{{.0501617, 23.80547},
                                                   {.0515781, 22.50446},
                                                   {.0548155, 19.81770},
                                                   {.0588907, 18.35890},
                                                   {.0620387, 17.51309},
                                                   {.0655061, 17.58302},
                                                   {.0694502, 17.85533},
                                                   {.0737586, 18.04786},
                                                   {.0777307, 18.23936}},
                                                  {{.0929538, 44.58425},
                                                   {.0952875, 41.44600},
                                                   {.1007615, 37.10377},
                                                   {.1078213, 34.10699},
                                                   {.1130896, 32.34177},
                                                   {.1191977, 32.73324},
                                                   {.1259677, 33.26969},
                                                   {.1332245, 33.08536},
                                                   {.1405683, 33.64192}}};
  constexpr double kIdle = 57;
  for (const std::vector<Measured>& pass : passes) {
    const double most = pass.front().energy_j / pass.front().time_s;
    for (const Measured& each : pass) {
      const double speed = pass.front().time_s / each.time_s;
      CHECK(clock_share(each.energy_j / each.time_s, most, kIdle) == doctest::Approx(speed).epsilon(0.03));
    }
  }
}

}  // namespace athanor
