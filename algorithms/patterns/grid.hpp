#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

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

}  // namespace athanor
