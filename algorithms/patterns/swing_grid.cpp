#include "algorithms/patterns/swing_grid.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "algorithms/patterns/folded_cube.hpp"
#include "algorithms/patterns/swing_partners.hpp"

namespace athanor {

namespace {

/// Are there several sides of more than one?
bool is_grid(const Dimensions& dimensions) {
  return std::count_if(dimensions.begin(), dimensions.end(), [](std::uint32_t side) { return side > 1; }) > 1;
}

Dimensions corners_of(std::uint32_t ranks, const Layout& layout) {
  const Dimensions& sides = layout.as<GridShape>().dimensions;
  return is_grid(sides) ? sides : Dimensions{FoldedCube(ranks).corners()};
}

}  // namespace

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
                     fmt::join(sides.begin(), end, " x "));
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
