#pragma once

#include <cstdint>

#include "algorithms/patterns/grid.hpp"

namespace athanor {

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

}  // namespace athanor
