#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "algorithms/catalog.hpp"
#include "algorithms/schedule/collective.hpp"

namespace athanor {

/// Ranks by coordinates, as `Dimensions` numbers them. Sides of length one are left out.
class Grid {
 public:
  /// Requires dimensions that are given.
  explicit Grid(const Dimensions& dimensions);

  std::uint32_t dimensions() const { return count_; }
  std::uint32_t side(std::uint32_t dimension) const { return sides_.at(dimension); }
  /// Ranks from one position to the next in that dimension.
  std::uint32_t stride(std::uint32_t dimension) const { return strides_.at(dimension); }
  std::uint32_t coordinate(std::uint32_t rank, std::uint32_t dimension) const {
    return rank / strides_.at(dimension) % sides_.at(dimension);
  }
  /// The rank `steps` on in that dimension, around its end; requires steps < side.
  std::uint32_t moved(std::uint32_t rank, std::uint32_t dimension, std::uint32_t steps) const {
    const std::uint32_t here = coordinate(rank, dimension);
    return rank + ((here + steps) % side(dimension) - here) * strides_.at(dimension);
  }

 private:
  std::uint32_t count_ = 0;
  Dimensions sides_{};
  Dimensions strides_{};
};

/// Sides whose product is `ranks`, of the least sum, the longest first. Requires `sides` of 1 to 3.
Dimensions nearly_cubic(std::uint32_t ranks, std::uint32_t sides);

/// The layout's, or the most nearly cubic.
inline Dimensions dimensions_of(const Collective& collective, const Layout& layout, std::uint32_t sides) {
  const Dimensions& given = layout.as<GridShape>().dimensions;
  return given[0] != 0 ? given : nearly_cubic(collective.ranks, sides);
}

/// Why these are not so many dimensions, where some are given.
std::optional<std::string> refuse_other_dimensions(const Dimensions& dimensions, std::uint32_t wanted);

/// How many copies of itself an algorithm on a grid of rings runs side by side, each with its part of the payload.
struct TorusCopies {
  bool rotated = false;          ///< one copy begins in each dimension
  bool both_directions = false;  ///< and each goes both ways around the rings
};

/// One begins in each dimension and each way round, so that all ports of a rank work at once.
constexpr TorusCopies kEveryPort{true, true};

/// The rings of a grid as the copies of an algorithm go along them, dimension by dimension. Channels take the copies in
/// turn. A copy begins with dimension D - 1 less its rotation and counts down.
class TorusRings {
 public:
  TorusRings(const Dimensions& dimensions, TorusCopies copies)
      : grid_(dimensions),
        rotations_(copies.rotated ? grid_.dimensions() : 1),
        directions_(copies.both_directions ? 2 : 1) {}

  const Grid& grid() const { return grid_; }
  std::uint32_t dimensions() const { return grid_.dimensions(); }
  std::uint32_t copies() const { return rotations_ * directions_; }
  std::uint32_t rotations() const { return rotations_; }
  std::uint32_t rotation(std::uint32_t channel) const { return channel / directions_ % rotations_; }
  /// The first channel of a rotation.
  std::uint32_t channel(std::uint32_t rotation) const { return rotation * directions_; }

  /// The dimension that a copy comes to after `order` others.
  std::uint32_t dimension(std::uint32_t channel, std::uint32_t order) const {
    return (2 * dimensions() - 1 - rotation(channel) - order) % dimensions();
  }
  std::uint32_t side(std::uint32_t channel, std::uint32_t order) const { return grid_.side(dimension(channel, order)); }
  bool backwards(std::uint32_t channel) const { return directions_ == 2 && channel % 2 == 1; }
  /// The position on a ring, counted in the direction of the channel, of what has this coordinate; and the inverse.
  std::uint32_t turned(std::uint32_t channel, std::uint32_t order, std::uint32_t coordinate) const {
    return backwards(channel) ? side(channel, order) - 1 - coordinate : coordinate;
  }
  std::uint32_t position(std::uint32_t rank, std::uint32_t channel, std::uint32_t order) const {
    return turned(channel, order, grid_.coordinate(rank, dimension(channel, order)));
  }
  /// The rank one position on, or one before.
  std::uint32_t beside(std::uint32_t rank, std::uint32_t channel, std::uint32_t order, bool next) const {
    const std::uint32_t steps = next == backwards(channel) ? side(channel, order) - 1 : 1;
    return grid_.moved(rank, dimension(channel, order), steps);
  }

 private:
  Grid grid_;
  std::uint32_t rotations_;
  std::uint32_t directions_;
};

/// An algorithm on a grid: `words` with its schedule, granule and cost, which are Kind(collective, layout, dimensions,
/// more...), and Kind::granule and cost() of the same. `dimensions`: from collective and layout.
template <class Kind, class Sides, class... More>
Algorithm on_grid(Algorithm words, Sides dimensions, More... more) {
  words.make_for_many = [=](const Collective& collective, const Layout& layout) {
    return std::make_unique<Kind>(collective, layout, dimensions(collective, layout), more...);
  };
  words.granule_for_many = [=](const Collective& collective, const Layout& layout) {
    return Kind::granule(collective, layout, dimensions(collective, layout), more...);
  };
  words.cost_in_shape = [=](const Collective& collective, const Layout& layout) {
    return Kind(collective, layout, dimensions(collective, layout), more...).cost();
  };
  return words;
}

/// With the dimensions that the layout gives, else `sides` of the least sum.
template <class Kind, class... More>
Algorithm on_any_grid(Algorithm words, std::uint32_t sides, More... more) {
  words.takes_dimensions = true;
  const auto dimensions = [sides](const Collective& collective, const Layout& layout) {
    return dimensions_of(collective, layout, sides);
  };
  words.takes_dimensions = true;
  return on_grid<Kind>(std::move(words), dimensions, more...);
}

/// With `sides` dimensions: others are refused.
template <class Kind, class... More>
Algorithm on_grid_of(Algorithm words, std::uint32_t sides, More... more) {
  words.refuses_many = [sides](const Collective&, const Layout& layout) {
    return refuse_other_dimensions(layout.as<GridShape>().dimensions, sides);
  };
  return on_any_grid<Kind>(std::move(words), sides, more...);
}

}  // namespace athanor
