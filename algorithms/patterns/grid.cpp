#include "algorithms/patterns/grid.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

namespace athanor {

Grid::Grid(const Dimensions& dimensions) {
  for (const std::uint32_t side : dimensions) {
    if (side > 1) { sides_.at(count_++) = side; }
  }
  std::uint32_t stride = 1;
  for (std::uint32_t dimension = count_; dimension-- > 0;) {
    strides_.at(dimension) = stride;
    stride *= sides_.at(dimension);
  }
}

Dimensions nearly_cubic(std::uint32_t ranks, std::uint32_t sides) {
  Dimensions best{ranks};
  if (sides == 1) { return best; }
  std::uint64_t least = UINT64_MAX;
  for (std::uint32_t last = 1; std::uint64_t{last} * last <= ranks; ++last) {
    if (ranks % last != 0) { continue; }
    Dimensions candidate = nearly_cubic(ranks / last, sides - 1);
    candidate.at(sides - 1) = last;
    if (candidate.at(sides - 2) < last) { continue; }
    const std::uint64_t sum = std::accumulate(candidate.begin(), candidate.end(), std::uint64_t{0});
    if (sum > least) { continue; }
    least = sum;
    best = candidate;
  }
  return best;
}

std::optional<std::string> refuse_other_dimensions(const Dimensions& dimensions, std::uint32_t wanted) {
  const auto given =
      static_cast<std::uint32_t>(std::find(dimensions.begin(), dimensions.end(), 0U) - dimensions.begin());
  if (given == 0 || given == wanted) { return std::nullopt; }
  return fmt::format("it takes {} dimensions, not {}", wanted, given);
}

}  // namespace athanor
