#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topologies/generators/direct/router_graph.hpp"

namespace athanor {

/// Positions of a box by number and by coordinates; the last dimension varies fastest.
class Coordinates {
 public:
  /// Requires sizes that check_box accepts.
  explicit Coordinates(std::vector<std::uint32_t> sizes);

  std::uint32_t dimensions() const { return static_cast<std::uint32_t>(sizes_.size()); }
  std::uint32_t positions() const { return positions_; }
  const std::vector<std::uint32_t>& sizes() const { return sizes_; }
  std::uint32_t size(std::uint32_t d) const { return sizes_[d]; }
  std::uint32_t stride(std::uint32_t d) const { return strides_[d]; }
  std::uint32_t at(std::uint32_t position, std::uint32_t d) const { return position / strides_[d] % sizes_[d]; }
  /// The position with coordinate d replaced.
  std::uint32_t with(std::uint32_t position, std::uint32_t d, std::uint32_t coordinate) const {
    return position - at(position, d) * strides_[d] + coordinate * strides_[d];
  }
  /// For each dimension of two or more the positions in the lower half of it.
  std::vector<RouterSet> halves() const;

 private:
  std::vector<std::uint32_t> sizes_;
  std::vector<std::uint32_t> strides_;
  std::uint32_t positions_ = 1;
};

/// The most routers that a network is built of.
constexpr std::uint32_t kMostRouters = 1U << 27U;
/// The most dimensions that a network has.
constexpr std::uint32_t kMostDimensions = 32;

/// Throws ScenarioError("does-not-fit") when a dimension has no position, or the box more than kMostRouters or more
/// than kMostDimensions; `what` names it: "a torus".
void check_box(const std::string& what, const std::vector<std::uint32_t>& sizes);

}  // namespace athanor
