#pragma once

#include <bit>
#include <cstdint>

#include "algorithms/layout.hpp"
#include "algorithms/schedule.hpp"

namespace athanor {

/// Exchanges along the dimensions of a hypercube, for any number of ranks: the greatest power of two of them are its
/// corners. Each rank beyond gives its input to the corner with the same low bits, and gets the result from it.
/// Port d of a corner leads to the corner that differs in bit d; port `dimensions` to the rank beyond, whose only port
/// is 0. Requires at least two ranks.
class FoldedCube {
 public:
  explicit FoldedCube(std::uint32_t ranks) : ranks_(ranks), dimensions_(std::bit_width(ranks) - 1) {}

  std::uint32_t ranks() const { return ranks_; }
  std::uint32_t dimensions() const { return static_cast<std::uint32_t>(dimensions_); }
  std::uint32_t corners() const { return 1U << dimensions_; }
  bool folds() const { return ranks_ > corners(); }
  bool is_corner(std::uint32_t rank) const { return rank < corners(); }
  /// Is this the corner of a rank beyond?
  bool serves(std::uint32_t rank) const { return is_corner(rank) && rank + corners() < ranks_; }
  std::uint32_t ports(std::uint32_t rank) const { return is_corner(rank) ? dimensions() + (serves(rank) ? 1 : 0) : 1; }
  /// 0: a corner by itself, 1: one that serves, 2: beyond.
  std::uint32_t role(std::uint32_t rank) const { return is_corner(rank) ? (serves(rank) ? 1 : 0) : 2; }

  /// Connections are the same both ways: the far end of out-port p sends to in-port p.
  Endpoint opposite(std::uint32_t rank, LaneId lane, PortId port) const {
    if (!is_corner(rank)) { return {AgentId{rank - corners()}, lane, PortId{dimensions()}}; }
    if (port.value == dimensions()) { return {AgentId{rank + corners()}, lane, PortId{0}}; }
    return {AgentId{rank ^ (1U << port.value)}, lane, port};
  }

 private:
  std::uint32_t ranks_;
  int dimensions_;
};

}  // namespace athanor
