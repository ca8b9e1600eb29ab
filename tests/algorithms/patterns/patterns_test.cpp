#include <algorithm>
#include <bit>
#include <numeric>
#include <set>

#include <doctest/doctest.h>

#include "algorithms/patterns/disjoint_cycles.hpp"
#include "algorithms/patterns/grid.hpp"
#include "algorithms/patterns/swing.hpp"

namespace athanor {

TEST_CASE("disjoint cycles visit every rank, share no directed link and, by strides, are phi(P)") {
  for (std::uint32_t ranks = 2; ranks <= 33; ++ranks) {
    const DisjointCycles cycles(ranks, {}, 1000);
    CAPTURE(ranks);
    std::uint32_t coprime = 0;
    for (std::uint32_t step = 1; step < ranks; ++step) { coprime += std::gcd(step, ranks) == 1 ? 1 : 0; }
    CHECK(cycles.count() == coprime);
    std::set<std::pair<std::uint32_t, std::uint32_t>> links;
    for (std::uint32_t cycle = 0; cycle < cycles.count(); ++cycle) {
      for (std::uint32_t position = 0; position < ranks; ++position) {
        const std::uint32_t rank = cycles.rank_at(cycle, position);
        CHECK(cycles.position(cycle, rank) == position);
        CHECK(links.emplace(rank, cycles.rank_at(cycle, (position + 1) % ranks)).second);
      }
    }
  }
}

TEST_CASE("the four cycles of a torus use each of its links once, and none else") {
  std::uint32_t found = 0;
  for (std::uint32_t rows = 1; rows <= 15; ++rows) {
    for (std::uint32_t columns = 1; columns <= 15; ++columns) {
      const Dimensions dimensions{rows, columns};
      if (DisjointCycles::refuse(dimensions)) { continue; }
      ++found;
      CAPTURE(rows);
      CAPTURE(columns);
      const std::uint32_t ranks = rows * columns;
      const Grid grid(dimensions);
      const DisjointCycles cycles(ranks, dimensions, 8);
      REQUIRE(cycles.count() == 4);
      std::set<std::pair<std::uint32_t, std::uint32_t>> links;
      for (std::uint32_t cycle = 0; cycle < 4; ++cycle) {
        for (std::uint32_t position = 0; position < ranks; ++position) {
          const std::uint32_t rank = cycles.rank_at(cycle, position);
          const std::uint32_t next = cycles.rank_at(cycle, (position + 1) % ranks);
          REQUIRE(cycles.position(cycle, rank) == position);
          bool neighbours = false;
          for (const std::uint32_t dimension : {0U, 1U}) {
            neighbours = neighbours || grid.moved(rank, dimension, 1) == next || grid.moved(next, dimension, 1) == rank;
          }
          CHECK(neighbours);
          links.emplace(rank, next);
        }
      }
      CHECK(links.size() == std::size_t{4} * ranks);
    }
  }
  CHECK(found > 20);
  CHECK_FALSE(DisjointCycles::refuse({16, 16}).has_value());
}

TEST_CASE("without dimensions a torus has the sides of the least sum") {
  CHECK(nearly_cubic(64, 3) == Dimensions{4, 4, 4});
  CHECK(nearly_cubic(64, 2) == Dimensions{8, 8});
  CHECK(nearly_cubic(60, 3) == Dimensions{5, 4, 3});
  CHECK(nearly_cubic(7, 3) == Dimensions{7, 1, 1});
  CHECK(nearly_cubic(16384, 3) == Dimensions{32, 32, 16});
  for (std::uint32_t ranks = 1; ranks <= 200; ++ranks) {
    std::uint32_t least = 3 * ranks;
    for (std::uint32_t x = 1; x <= ranks; ++x) {
      for (std::uint32_t y = 1; ranks % x == 0 && y <= ranks / x; ++y) {
        if (ranks / x % y == 0) { least = std::min(least, x + y + ranks / x / y); }
      }
    }
    const Dimensions chosen = nearly_cubic(ranks, 3);
    CAPTURE(ranks);
    CHECK(chosen[0] * chosen[1] * chosen[2] == ranks);
    CHECK(chosen[0] >= chosen[1]);
    CHECK(chosen[1] >= chosen[2]);
    CHECK(chosen[0] + chosen[1] + chosen[2] == least);
  }
}

TEST_CASE("partners of Swing are 1, 1, 3, 5, 11, ... ranks away, to alternate sides, each other's, and mirrored") {
  const std::int64_t distances[] = {1, -1, 3, -5, 11, -21, 43};
  for (std::uint32_t dimensions = 1; dimensions <= 7; ++dimensions) {
    const std::int64_t corners = 1 << dimensions;
    for (std::uint32_t corner = 0; corner < corners; ++corner) {
      for (std::uint32_t exchange = 0; exchange < dimensions; ++exchange) {
        const std::int64_t way = (corner % 2 == 0 ? 1 : -1) * distances[exchange];
        const std::uint32_t partner = swing_partner(dimensions, corner, exchange, false);
        CHECK(partner == (corner + way + 64 * corners) % corners);
        CHECK(swing_partner(dimensions, partner, exchange, false) == corner);
        CHECK(swing_partner(dimensions, corner, exchange, true) == (corner - way + 64 * corners) % corners);
        for (const bool mirrored : {false, true}) {
          const std::uint32_t far = swing_partner(dimensions, corner, exchange, mirrored);
          const std::uint32_t difference =
              swing_place(dimensions, corner, mirrored) ^ swing_place(dimensions, far, mirrored);
          CHECK(std::bit_width(difference) == dimensions - exchange);
        }
      }
    }
  }
}

TEST_CASE("Swing on a grid goes along all dimensions at once, each copy by all of its exchanges") {
  for (const Dimensions& sides : {Dimensions{4, 4}, Dimensions{2, 8}, Dimensions{4, 1, 2, 8}, Dimensions{16}}) {
    const Layout layout{.shape = GridShape{sides}};
    std::uint32_t ranks = 1;
    std::uint32_t dimensions = 0;
    for (const std::uint32_t side : sides) {
      ranks *= std::max(side, 1U);
      dimensions += side > 1 ? 1 : 0;
    }
    const SwingGrid grid(ranks, layout);
    const std::uint32_t exchanges = static_cast<std::uint32_t>(std::bit_width(ranks)) - 1;
    CHECK(SwingGrid::copied(ranks, layout).channels == 2 * dimensions);
    std::set<std::uint32_t> first;
    for (std::uint32_t channel = 0; channel < 2 * dimensions; ++channel) {
      first.insert(grid.partner(channel, 0, 0));
      std::set<std::uint32_t> places;
      for (std::uint32_t corner = 0; corner < ranks; ++corner) {
        places.insert(grid.place(channel, corner));
        for (std::uint32_t exchange = 0; exchange < exchanges; ++exchange) {
          const std::uint32_t partner = grid.partner(channel, corner, exchange);
          CHECK(grid.partner(channel, partner, exchange) == corner);
          const std::uint32_t difference = grid.place(channel, corner) ^ grid.place(channel, partner);
          CHECK(static_cast<std::uint32_t>(std::bit_width(difference)) == exchanges - exchange);
        }
      }
      CHECK(places.size() == ranks);
      CHECK(grid.place(channel, 0) == 0);
    }
    // Towards all neighbours; on a side of two both ways lead to the same.
    const auto twos = static_cast<std::uint32_t>(std::count(sides.begin(), sides.end(), 2U));
    CHECK(first.size() == 2 * dimensions - twos);
  }
  CHECK(SwingGrid::refuse(Layout{.shape = GridShape{{6, 4}}}).has_value());
  CHECK_FALSE(SwingGrid::refuse(Layout{.shape = GridShape{{6}}}).has_value());
}

}  // namespace athanor
