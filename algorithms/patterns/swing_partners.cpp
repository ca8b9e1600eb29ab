#include "algorithms/patterns/swing_partners.hpp"

#include "algorithms/patterns/halving_cube.hpp"

namespace athanor {

namespace {

constexpr std::uint32_t kThird = 0xAAAAAAABU;  ///< the inverse of 3 modulo any power of two up to 2^32

std::uint32_t corners_mask(std::uint32_t dimensions) { return (1U << dimensions) - 1; }

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

}  // namespace athanor
