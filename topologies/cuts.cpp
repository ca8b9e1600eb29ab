#include <algorithm>

#include <fmt/format.h>

#include "topologies/cluster.hpp"

namespace athanor {

namespace {

class Marks {
 public:
  explicit Marks(const Fabric& fabric) : inside_(fabric.vertices(), false) {}

  void set(const std::vector<VertexRange>& ranges, bool inside) {
    for (const VertexRange& range : ranges) {
      for (std::uint32_t v = range.first; v < range.first + range.count; ++v) { inside_[v] = inside; }
    }
  }
  bool operator[](VertexId v) const { return inside_[v.value]; }

 private:
  std::vector<bool> inside_;
};

/// Only links of marked vertices are looked at; every link has its twin, which shows what enters.
Cut cut_around(const Cluster& cluster, const Marks& inside, const Division& division) {
  const Fabric& fabric = *cluster.fabric;
  Cut cut;
  cut.name = division.name;
  for (const VertexRange& range : division.inside) {
    for (std::uint32_t v = range.first; v < range.first + range.count; ++v) {
      const auto [first, count] = fabric.out(VertexId{v});
      for (std::uint32_t l = first; l < first + count; ++l) {
        if (inside[fabric.target(LinkId{l})]) { continue; }
        cut.out += fabric.link(LinkId{l}).rate;
        cut.links_out.emplace_back(l);
      }
    }
  }
  cut.in = cut.out;
  for (const VertexId endpoint : cluster.endpoints) { cut.inside += inside[endpoint] ? 1 : 0; }
  return cut;
}

bool says_something(const Cut& cut, const Cluster& cluster) {
  return cut.inside > 0 && cut.inside < cluster.endpoints.size();
}

bool same_shape(const Cut& a, const Cut& b) { return a.inside == b.inside && a.out == b.out && a.in == b.in; }

/// Endpoints are alike from node to node, so those of one node show all shapes; a list has no nodes.
std::vector<Division> single_endpoints(const Cluster& cluster) {
  const std::size_t looked_at = cluster.endpoints_per_node > 1 ? cluster.endpoints_per_node
                                                               : std::min<std::size_t>(cluster.endpoints.size(), 4096);
  std::vector<Division> found;
  for (std::size_t e = 0; e < looked_at; ++e) {
    found.push_back({cluster.fabric->name(cluster.endpoints[e]), {{cluster.endpoints[e].value, 1}}, false});
  }
  return found;
}

}  // namespace

std::vector<Cut> half_cuts(const Cluster& cluster) {
  std::vector<Cut> cuts;
  Marks inside(*cluster.fabric);
  for (const Division& division : cluster.divisions) {
    if (!division.half) { continue; }
    inside.set(division.inside, true);
    cuts.push_back(cut_around(cluster, inside, division));
    inside.set(division.inside, false);
  }
  return cuts;
}

std::vector<Cut> natural_cuts(const Cluster& cluster) {
  std::vector<Division> divisions = single_endpoints(cluster);
  divisions.insert(divisions.end(), cluster.divisions.begin(), cluster.divisions.end());
  std::vector<Cut> cuts;
  Marks inside(*cluster.fabric);
  for (const Division& division : divisions) {
    inside.set(division.inside, true);
    Cut cut = cut_around(cluster, inside, division);
    inside.set(division.inside, false);
    const bool known = std::any_of(cuts.begin(), cuts.end(), [&](const Cut& other) { return same_shape(cut, other); });
    if (!known && says_something(cut, cluster)) { cuts.push_back(std::move(cut)); }
  }
  return cuts;
}

}  // namespace athanor
