#include "topologies/generators/direct/router_graph.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/words.hpp"

namespace athanor {

void ValiantGraph::walk(Routing routing, FlowDraws draws, std::uint32_t from, std::uint32_t to,
                        PathBuilder& path) const {
  std::uint32_t middle = from;
  if (routing == Routing::valiant) {
    middle = draws.below(hosting());
    walk_directly(draws, from, middle, path);
  }
  walk_directly(draws, middle, to, path);
}

void cut_loops(const Fabric& fabric, std::size_t begin, std::vector<LinkId>& path) {
  for (std::size_t at = begin; at < path.size(); ++at) {
    const VertexId here = fabric.source(path[at]);
    // The last link that comes back to here: all from `at` to it is a loop.
    for (std::size_t last = path.size(); last > at; --last) {
      if (fabric.target(path[last - 1]) != here) { continue; }
      path.erase(path.begin() + static_cast<std::ptrdiff_t>(at), path.begin() + static_cast<std::ptrdiff_t>(last));
      --at;  // what stands here now begins at the same router
      break;
    }
  }
}

Coordinates::Coordinates(std::vector<std::uint32_t> sizes) : sizes_(std::move(sizes)), strides_(sizes_.size()) {
  for (std::size_t d = sizes_.size(); d > 0; --d) {
    strides_[d - 1] = positions_;
    require(sizes_[d - 1] > 0 && positions_ <= kMostRouters / sizes_[d - 1], "a box of too many positions or none");
    positions_ *= sizes_[d - 1];
  }
}

std::vector<RouterSet> Coordinates::halves() const {
  std::vector<RouterSet> found;
  for (std::uint32_t d = 0; d < dimensions(); ++d) {
    if (sizes_[d] < 2) { continue; }
    RouterSet half{fmt::format("half along dimension {}", d), {}, true};
    // Positions whose coordinate is in the lower half are runs of size / 2 * stride positions.
    const std::uint32_t run = sizes_[d] / 2 * strides_[d];
    for (std::uint32_t first = 0; first < positions_; first += sizes_[d] * strides_[d]) {
      half.routers.push_back({first, run});
    }
    found.push_back(std::move(half));
  }
  return found;
}

void check_box(const std::string& what, const std::vector<std::uint32_t>& sizes) {
  const auto refuse = [&](const std::string& reason, const std::string& hint) {
    throw ScenarioError(
        Problem{"does-not-fit", fmt::format("{} of {} {}", what, joined(sizes, " x "), reason), {}, hint});
  };
  if (sizes.empty() || std::count(sizes.begin(), sizes.end(), 0U) > 0) {
    refuse("has no position", "give every dimension one position or more");
  }
  if (sizes.size() > kMostDimensions) {
    refuse(fmt::format("has {} dimensions", sizes.size()), fmt::format("at most {} are built", kMostDimensions));
  }
  Wide positions = 1;
  for (const std::uint32_t size : sizes) { positions = std::min<Wide>(positions * size, Wide{1} << 62U); }
  if (positions > kMostRouters) {
    throw ScenarioError(
        Problem{"too-large",
                fmt::format("{} of {} has more than {} positions", what, joined(sizes, " x "), kMostRouters),
                {},
                "describe a smaller cluster"});
  }
}

}  // namespace athanor
