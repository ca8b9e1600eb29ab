#include "topologies/generators/planes.hpp"

#include <algorithm>

#include "sim/check.hpp"
#include "sim/random.hpp"

namespace athanor {

Planes::Planes(std::string title, const Population& population, const ClosShape& shape, const ClosSpec& cables,
               ClosPlane::Serves serves, std::uint32_t planes)
    : title_(std::move(title)), population_(population), rails_(serves == ClosPlane::Serves::one_rail) {
  require(serves != ClosPlane::Serves::all && planes > 0, "{} planes", planes);
  require(!rails_ || planes == population.attachments_each(), "{} rails for nodes with {} NICs", planes,
          population.attachments_each());
  for (std::uint32_t plane = 0; plane < planes; ++plane) {
    planes_.emplace_back(title_, population, shape, cables, ClosPlane{serves, plane});
  }
}

void Planes::add_vertices(FabricBuilder& builder) {
  for (Clos& plane : planes_) { plane.add_vertices(builder); }
}

/// Plane after plane, so that port p of an attachment leads to plane p.
void Planes::add_links(FabricBuilder& builder) const {
  for (const Clos& plane : planes_) { plane.add_links(builder); }
}

void Planes::route(const Fabric& fabric, const RoutingChoice& choice, std::uint32_t from, std::uint32_t to,
                   std::uint64_t flow, std::vector<LinkId>& path) const {
  const auto planes = static_cast<std::uint32_t>(planes_.size());
  if (rails_) {
    require(from % planes == to % planes, "a route from rail {} to rail {}", from % planes, to % planes);
    return planes_[from % planes].route(fabric, choice, from / planes, to / planes, flow, path);
  }
  const std::uint64_t hash = join_hash(join_hash(join_hash(join_hash(choice.seed, 2), from), to), flow);
  const auto first = static_cast<std::uint32_t>(scale_hash(hash, planes));
  const std::size_t begin = path.size();
  for (std::uint32_t turn = 0; turn < planes; ++turn) {
    path.resize(begin);
    planes_[(first + turn) % planes].route(fabric, choice, from, to, flow, path);
    const bool broken =
        fabric.links_down() > 0 && std::any_of(path.begin() + static_cast<std::ptrdiff_t>(begin), path.end(),
                                               [&](LinkId link) { return fabric.link(link).down; });
    if (!broken) { return; }
  }
}

/// Those of the first network, with the same switches of all others.
std::vector<CutSet> Planes::cut_sets() const {
  std::vector<CutSet> found = planes_.front().cut_sets();
  for (std::size_t plane = 1; plane < planes_.size(); ++plane) {
    const std::vector<CutSet> others = planes_[plane].cut_sets();
    for (std::size_t d = 0; d < found.size(); ++d) {
      for (const VertexRange& range : others[d].inside) {
        if (range.first >= population_.vertices()) { found[d].inside.push_back(range); }
      }
    }
  }
  for (CutSet& set : found) {
    if (!set.half) { set.name += rails_ ? " of every rail" : " of every plane"; }
  }
  return found;
}

std::vector<TierSummary> Planes::tiers() const {
  std::vector<TierSummary> found = planes_.front().tiers();
  for (TierSummary& tier : found) { tier.switches *= static_cast<std::uint32_t>(planes_.size()); }
  return found;
}

}  // namespace athanor
