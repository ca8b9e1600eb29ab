#include "tools/crosscheck/machine/noise.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

/// Times around a mode, spread evenly by up to so large a share on either side.
std::vector<double> around(double mode, double share, std::size_t count) {
  std::vector<double> times;
  for (std::size_t i = 0; i < count; ++i) {
    const double place = 2 * (static_cast<double>(i) + 0.5) / static_cast<double>(count) - 1;
    times.push_back(mode * (1 + share * place));
  }
  return times;
}

std::vector<double> joined(std::vector<double> first, const std::vector<double>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace

TEST_CASE("times around two values are two modes, with the share of the upper one") {
  for (const std::size_t upper : {5U, 10U, 20U}) {
    CAPTURE(upper);
    const auto modes = two_modes(joined(around(10, 0.05, 20), around(16, 0.05, upper)));
    REQUIRE(modes);
    CHECK(modes->lower == doctest::Approx(10).epsilon(0.01));
    CHECK(modes->upper == doctest::Approx(16).epsilon(0.01));
    CHECK(modes->upper_share == doctest::Approx(static_cast<double>(upper) / (20.0 + static_cast<double>(upper))));
  }
}

TEST_CASE("one mode is none, however wide, nor are a long tail, a few wild times and modes that are close") {
  CHECK_FALSE(two_modes(around(10, 0.05, 40)));
  CHECK_FALSE(two_modes(around(10, 0.9, 40)));
  std::vector<double> tail;
  for (int i = 0; i < 40; ++i) { tail.push_back(10 * (1 - std::log((i + 0.5) / 40))); }  // exponential
  CHECK_FALSE(two_modes(tail));
  CHECK_FALSE(two_modes(joined(around(10, 0.02, 38), {100, 120})));
  CHECK_FALSE(two_modes(joined(around(10, 0.02, 20), around(11.5, 0.02, 20))));
  CHECK_FALSE(two_modes(std::vector<double>(40, 10.0)));
}

TEST_CASE("few times tell nothing of modes") {
  CHECK_FALSE(two_modes({}));
  CHECK_FALSE(two_modes({1, 1, 1, 2, 2, 2}));
}

TEST_CASE("a load that leaves too few idle processors is said with its figure") {
  CHECK(load_warning(0, 2, 2).empty());
  CHECK(load_warning(0.2, 2, 2).empty());
  CHECK(load_warning(1, 4, 2).empty());
  CHECK(load_warning(1.5, 2, 2).find("1.50") != std::string::npos);
  CHECK_FALSE(load_warning(3, 4, 2).empty());
}

TEST_CASE("the load is read where the system tells it") {
  const Folder folder;
  CHECK_FALSE(load_average(folder.path("nowhere")));
  std::filesystem::create_directory(folder.path("proc"));
  folder.write("proc/loadavg", "1.25 0.90 0.70 2/345 6789\n");
  CHECK(load_average(folder.path("")) == 1.25);
}
