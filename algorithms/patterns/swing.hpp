#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "algorithms/patterns/grid.hpp"
#include "algorithms/schedule/collective.hpp"

namespace athanor {

/// The exchanges of Swing on a grid of 2^k corners: in turn one in each dimension, in each as on a ring, until all of
/// its sides are done. 2D copies, one for each dimension to begin with and each way round: D dimensions have 2D ports.
/// Without dimensions, or with one, the corners are one ring (and 2^k may be less than the ranks).
class SwingGrid {
 public:
  /// Requires dimensions that refuse() accepts.
  SwingGrid(std::uint32_t ranks, const Layout& layout);

  /// Why Swing cannot go along these dimensions, or nothing.
  static std::optional<std::string> refuse(const Layout& layout);
  /// The layout with channels for all copies.
  static Layout copied(std::uint32_t ranks, const Layout& layout);

  /// As CubeAllReduce and HalvingCube want them.
  std::uint32_t partner(std::uint32_t channel, std::uint32_t corner, std::uint32_t exchange) const;
  std::uint32_t place(std::uint32_t channel, std::uint32_t corner) const;

 private:
  /// The exchange-th step of a channel is step `step` of a dimension.
  struct Turn {
    std::uint32_t dimension = 0;
    std::uint32_t step = 0;
  };
  Turn turn(std::uint32_t channel, std::uint32_t exchange) const;
  std::uint32_t bits(std::uint32_t dimension) const;

  TorusRings rings_;
};

/// The partners of Swing among the 2^dimensions corners of a ring. In exchange s an even corner goes
/// (1 - (-2)^(s+1)) / 3 ranks up and an odd one as many down, or where `mirrored` the other way round.
std::uint32_t swing_partner(std::uint32_t dimensions, std::uint32_t corner, std::uint32_t exchange, bool mirrored);

/// The piece that a corner finishes (see HalvingCube). All that a corner reaches from exchange s on are, modulo 2^s,
/// the even corner with which it shares the place without its lowest bit, and that corner's partner of the last
/// exchange.
std::uint32_t swing_place(std::uint32_t dimensions, std::uint32_t corner, bool mirrored);

}  // namespace athanor
