#include "models/network/adaptive_routes.hpp"

#include <algorithm>

namespace athanor {

AdaptiveRoutes::AdaptiveRoutes(const Router& router, const Fabric& fabric)
    : router_(router), flows_(router.paths() > 1 ? fabric.links() : 0, 0) {}

std::uint64_t AdaptiveRoutes::load(const Path& way, const std::vector<Path>& all) const {
  std::uint64_t busiest = 0;
  std::uint64_t links = 0;
  for (const LinkId link : way) {
    const bool shared = std::all_of(all.begin(), all.end(), [&](const Path& other) {
      return std::find(other.begin(), other.end(), link) != other.end();
    });
    if (shared) { continue; }
    busiest = std::max<std::uint64_t>(busiest, flows_[link.value]);
    ++links;
  }
  return (busiest + 1) * links;
}

void AdaptiveRoutes::open(RouteRequest request, std::vector<LinkId>& path) {
  request.path = 0;
  if (flows_.empty()) {
    router_.route(request, path);
    return;
  }
  std::vector<Path> all(router_.paths());
  for (; request.path < all.size(); ++request.path) { router_.route(request, all[request.path]); }
  const auto chosen = std::min_element(all.begin(), all.end(),
                                       [&](const Path& a, const Path& b) { return load(a, all) < load(b, all); });
  for (const LinkId link : *chosen) { ++flows_[link.value]; }
  path.insert(path.end(), chosen->begin(), chosen->end());
}

}  // namespace athanor
