#include "algorithms/synthesis/exchange_routes.hpp"

#include <doctest/doctest.h>

#include "tests/algorithms/synthesis/graphs.hpp"

using namespace athanor;
using namespace athanor::testing;

TEST_CASE("on one switch each pair has a way of its own") {
  for (const std::uint32_t ranks : {2U, 3U, 8U}) {
    CAPTURE(ranks);
    const ExchangeRoutes routes = exchange_routes(one_switch(ranks, 1));
    CHECK(routes.load == Ratio{ranks - 1, 1});
    CHECK(routes.bound == routes.load);
  }
}

TEST_CASE("in a ring of odd length each direction carries the shorter ways") {
  // n ranks send to (n - 1) / 2 others each way, over 1 to (n - 1) / 2 links: m (m + 1) / 2 units on each link.
  for (const std::uint32_t ranks : {3U, 5U, 9U}) {
    CAPTURE(ranks);
    const std::int64_t most = (ranks - 1) / 2;
    const ExchangeRoutes routes = exchange_routes(cable_ring(std::vector<std::int64_t>(ranks, 1)));
    CHECK(routes.load == Ratio{most * (most + 1) / 2, 1});
    CHECK(to_double(routes.bound) <= to_double(routes.load));
    CHECK(to_double(routes.bound) >= 0.95 * to_double(routes.load));
  }
}

TEST_CASE("routes in a torus are near the bound") {
  const ExchangeRoutes routes = exchange_routes(simplified(square_torus(5)));
  // Distances of a torus of 5 x 5 add up to 60 from each rank, over 4 links: 15 units on each.
  CHECK(to_double(routes.bound) <= 15.0);
  CHECK(to_double(routes.bound) >= 0.99 * 15.0);
  CHECK(to_double(routes.load) <= 1.1 * 15.0);
}
