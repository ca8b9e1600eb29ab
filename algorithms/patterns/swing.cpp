#include "algorithms/patterns/swing.hpp"

#include <algorithm>
#include <bit>

#include <fmt/core.h>

#include "algorithms/patterns/cube_all_reduce.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

constexpr std::uint32_t kThird = 0xAAAAAAABU;  ///< the inverse of 3 modulo any power of two up to 2^32

std::uint32_t corners_mask(std::uint32_t dimensions) { return (1U << dimensions) - 1; }

/// Are there several sides of more than one?
bool is_grid(const Dimensions& dimensions) {
  return std::count_if(dimensions.begin(), dimensions.end(), [](std::uint32_t side) { return side > 1; }) > 1;
}

Dimensions corners_of(std::uint32_t ranks, const Layout& layout) {
  const Dimensions& sides = layout.as<GridShape>().dimensions;
  return is_grid(sides) ? sides : Dimensions{FoldedCube(ranks).corners()};
}

}  // namespace

std::uint32_t swing_partner(std::uint32_t dimensions, std::uint32_t corner, std::uint32_t exchange, bool mirrored) {
  const std::uint32_t power = 2U << exchange;
  const std::uint32_t distance = kThird * (exchange % 2 == 0 ? 1U + power : 1U - power);
  const bool up = (corner % 2 == 0) != mirrored;
  return (up ? corner + distance : corner - distance) & corners_mask(dimensions);
}

/// Modulo 2^(s+1) the distance of exchange s is a third, so corners 2^(s+1) apart and a third apart share a group.
std::uint32_t swing_place(std::uint32_t dimensions, std::uint32_t corner, bool mirrored) {
  const std::uint32_t third = mirrored ? 0U - kThird : kThird;
  const std::uint32_t even = (corner % 2 == 0 ? corner : corner - third) & corners_mask(dimensions);
  return 2 * bits_reversed(even / 2, dimensions - 1) + corner % 2;
}

SwingGrid::SwingGrid(std::uint32_t ranks, const Layout& layout)
    : rings_(corners_of(ranks, layout), {.rotated = true, .both_directions = true}) {}

std::optional<std::string> SwingGrid::refuse(const Layout& layout) {
  const Dimensions& sides = layout.as<GridShape>().dimensions;
  const auto* const end = std::find(sides.begin(), sides.end(), 0U);
  if (!is_grid(sides) ||
      std::all_of(sides.begin(), end, [](std::uint32_t side) { return std::has_single_bit(side); })) {
    return std::nullopt;
  }
  return fmt::format("on several dimensions each side is a power of two, not {}; a single ring may have any length",
                     joined(std::span(sides.begin(), end), " x "));
}

Layout SwingGrid::copied(std::uint32_t ranks, const Layout& layout) {
  Layout result = layout;
  result.channels *= SwingGrid(ranks, layout).rings_.copies();
  return result;
}

std::uint32_t SwingGrid::bits(std::uint32_t dimension) const {
  return static_cast<std::uint32_t>(std::bit_width(rings_.grid().side(dimension)) - 1);
}

SwingGrid::Turn SwingGrid::turn(std::uint32_t channel, std::uint32_t exchange) const {
  std::uint32_t before = 0;
  for (std::uint32_t step = 0;; ++step) {
    for (std::uint32_t order = 0; order < rings_.dimensions(); ++order) {
      const std::uint32_t dimension = rings_.dimension(channel, order);
      if (step >= bits(dimension)) { continue; }
      if (before++ == exchange) { return {dimension, step}; }
    }
  }
}

std::uint32_t SwingGrid::partner(std::uint32_t channel, std::uint32_t corner, std::uint32_t exchange) const {
  const Grid& grid = rings_.grid();
  const Turn turn = this->turn(channel, exchange);
  const std::uint32_t here = grid.coordinate(corner, turn.dimension);
  const std::uint32_t there = swing_partner(bits(turn.dimension), here, turn.step, rings_.backwards(channel));
  return grid.moved(corner, turn.dimension, (there + grid.side(turn.dimension) - here) % grid.side(turn.dimension));
}

/// An exchange decides the highest bit that is left of its dimension's place, and the highest that is left of the
/// whole.
std::uint32_t SwingGrid::place(std::uint32_t channel, std::uint32_t corner) const {
  const Grid& grid = rings_.grid();
  std::uint32_t exchanges = 0;
  for (std::uint32_t dimension = 0; dimension < grid.dimensions(); ++dimension) { exchanges += bits(dimension); }
  std::uint32_t place = 0;
  for (std::uint32_t exchange = 0; exchange < exchanges; ++exchange) {
    const auto [dimension, step] = turn(channel, exchange);
    const std::uint32_t along =
        swing_place(bits(dimension), grid.coordinate(corner, dimension), rings_.backwards(channel));
    place = 2 * place + (along >> (bits(dimension) - 1 - step) & 1U);
  }
  return place;
}

}  // namespace athanor
