#include <cmath>

#include <doctest/doctest.h>

#include "tools/verify/published_table.hpp"

using namespace athanor;

namespace {

/// Sizes double from 8 bytes on.
std::vector<TablePoint> points_of(const std::vector<double>& times) {
  std::vector<TablePoint> points;
  std::int64_t size = 8;
  for (const double time : times) {
    points.push_back({Bytes{size}, time});
    size *= 2;
  }
  mark_spikes(points);
  return points;
}

/// The places of spikes.
std::vector<std::size_t> spikes_of(const std::vector<double>& times) {
  std::vector<std::size_t> places;
  const auto points = points_of(times);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].spike) { places.push_back(i); }
  }
  return places;
}

using Places = std::vector<std::size_t>;

}  // namespace

TEST_CASE("a row 20 % above the line of its neighbours is a spike, and one just below that is none") {
  for (const double growth : {1.0, 1.3, 2.0}) {  // of time when the size doubles: latency, in between, bandwidth
    CAPTURE(growth);
    for (const std::size_t place : {2U, 3U, 4U}) {
      CAPTURE(place);
      std::vector<double> times;
      for (int i = 0; i < 7; ++i) { times.push_back(10 * std::pow(growth, i)); }
      const double before = times[place];
      times[place] = before * 1.201;
      CHECK(spikes_of(times) == Places{place});
      times[place] = before * 1.199;
      CHECK(spikes_of(times).empty());
      times[place] = before / 2;
      CHECK(spikes_of(times).empty());
    }
  }
}

TEST_CASE("a step is no spike, up or down, nor is the first or the last row") {
  CHECK(spikes_of({10, 10, 10, 20, 20, 20}).empty());
  CHECK(spikes_of({20, 20, 20, 10, 10, 10}).empty());
  CHECK(spikes_of({10, 10, 10, 20, 40, 80}).empty());
  CHECK(spikes_of({90, 10, 10, 10, 90}).empty());
  CHECK(spikes_of({10, 30}).empty());
  CHECK(spikes_of({}).empty());
}

TEST_CASE("beside an end only what no slope explains is a spike") {
  CHECK(spikes_of({10, 23, 10, 10}).empty());
  CHECK(spikes_of({10, 25, 10, 10}) == Places{1});
  CHECK(spikes_of({10, 10, 11.9, 10}).empty());
  CHECK(spikes_of({10, 10, 12.1, 10}) == Places{2});
  CHECK(spikes_of({10, 20, 49, 80}).empty());
}

TEST_CASE("two high rows side by side are no isolated spikes") { CHECK(spikes_of({10, 10, 30, 30, 10, 10}).empty()); }

TEST_CASE("noise is the mean distance from the line of the neighbours, by band, without spikes") {
  CHECK(*noise(points_of({1, 2, 4, 8, 16})) == doctest::Approx(0));
  const double above = 1.1;  // every other row; each is off from its neighbours' line by as much, up or down
  const auto zigzag = points_of({1, above, 1, above, 1, above, 1});
  CHECK(*noise(zigzag) == doctest::Approx(((above - 1) * 3 + (1 - 1 / above) * 2) / 5));
  CHECK(*noise(zigzag, Bytes{16}, Bytes{32}) == doctest::Approx(above - 1));
  CHECK_FALSE(noise(zigzag, Bytes{8}, Bytes{16}));  // the first row has one neighbour
  CHECK_FALSE(noise(zigzag, Bytes{1024}));
  CHECK(*noise(points_of({10, 10, 10, 50, 10, 10, 10})) == doctest::Approx(0));
}
