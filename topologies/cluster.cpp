#include "topologies/cluster.hpp"

#include <algorithm>
#include <span>

#include <fmt/core.h>

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

/// The links that lead to each vertex. Only of clusters whose links may differ by direction: in others every link has
/// a twin of the same rate, so that what leaves shows what enters.
class LinksIn {
 public:
  explicit LinksIn(const Cluster& cluster) {
    if (cluster.alike_from_every_node) { return; }
    const Fabric& fabric = *cluster.fabric;
    first_.assign(fabric.vertices() + 1, 0);
    for (std::uint32_t l = 0; l < fabric.links(); ++l) { ++first_[fabric.target(LinkId{l}).value + 1]; }
    for (std::size_t v = 1; v < first_.size(); ++v) { first_[v] += first_[v - 1]; }
    links_.resize(fabric.links());
    std::vector<std::uint32_t> next(first_);
    for (std::uint32_t l = 0; l < fabric.links(); ++l) { links_[next[fabric.target(LinkId{l}).value]++] = LinkId{l}; }
  }

  bool twins() const { return first_.empty(); }
  std::span<const LinkId> of(std::uint32_t v) const {
    return {links_.data() + first_[v], links_.data() + first_[v + 1]};
  }

 private:
  std::vector<std::uint32_t> first_;  // by vertex, one more at the end; empty: twins
  std::vector<LinkId> links_;
};

Bandwidth carried(const Link& link) { return link.down ? Bandwidth::zero() : link.rate; }

/// By vertex: how often it is an endpoint.
std::vector<std::uint32_t> endpoints_at(const Cluster& cluster) {
  std::vector<std::uint32_t> at(cluster.fabric->vertices());
  for (const VertexId endpoint : cluster.endpoints) { ++at[endpoint.value]; }
  return at;
}

/// Only marked vertices and their links are looked at.
Cut cut_around(const Cluster& cluster, const Marks& inside, const LinksIn& links_in,
               const std::vector<std::uint32_t>& endpoints, const CutSet& set) {
  const Fabric& fabric = *cluster.fabric;
  Cut cut;
  cut.name = set.name;
  for (const VertexRange& range : set.inside) {
    for (std::uint32_t v = range.first; v < range.first + range.count; ++v) {
      cut.inside += endpoints[v];
      const auto [first, count] = fabric.out(VertexId{v});
      for (std::uint32_t l = first; l < first + count; ++l) {
        if (inside[fabric.target(LinkId{l})] || !belongs(cluster, fabric.link(LinkId{l}))) { continue; }
        cut.out += carried(fabric.link(LinkId{l}));
        cut.links_out.emplace_back(l);
      }
      if (links_in.twins()) { continue; }
      for (const LinkId link : links_in.of(v)) {
        if (!inside[fabric.source(link)] && belongs(cluster, fabric.link(link))) {
          cut.in += carried(fabric.link(link));
        }
      }
    }
  }
  if (links_in.twins()) { cut.in = cut.out; }
  return cut;
}

bool says_something(const Cut& cut, const Cluster& cluster) {
  return cut.inside > 0 && cut.inside < cluster.endpoints.size();
}

bool same_shape(const Cut& a, const Cut& b) { return a.inside == b.inside && a.out == b.out && a.in == b.in; }

/// Where endpoints are alike from node to node, those of one node show all shapes, and of hosts some thousands do.
std::vector<CutSet> single_endpoints(const Cluster& cluster) {
  const std::size_t of_one_node = cluster.endpoints_per_node > 1 ? cluster.endpoints_per_node : 4096;
  const std::size_t all = cluster.endpoints.size();
  const std::size_t looked_at = cluster.alike_from_every_node ? std::min(of_one_node, all) : all;
  std::vector<CutSet> found;
  for (std::size_t e = 0; e < looked_at; ++e) {
    found.push_back({cluster.fabric->name(cluster.endpoints[e]), {{cluster.endpoints[e].value, 1}}, false});
  }
  return found;
}

}  // namespace

Cluster with_seed(const Cluster& cluster, std::uint64_t seed) {
  Cluster other = cluster;
  other.router = cluster.router->with_seed(seed);
  return other;
}

std::vector<Cut> half_cuts(const Cluster& cluster) {
  std::vector<Cut> cuts;
  Marks inside(*cluster.fabric);
  const LinksIn links_in(cluster);
  const std::vector<std::uint32_t> endpoints = endpoints_at(cluster);
  for (const CutSet& set : cluster.cut_sets) {
    if (!set.half) { continue; }
    inside.set(set.inside, true);
    cuts.push_back(cut_around(cluster, inside, links_in, endpoints, set));
    inside.set(set.inside, false);
  }
  return cuts;
}

std::vector<Cut> natural_cuts(const Cluster& cluster) {
  std::vector<CutSet> cut_sets = single_endpoints(cluster);
  cut_sets.insert(cut_sets.end(), cluster.cut_sets.begin(), cluster.cut_sets.end());
  std::vector<Cut> cuts;
  Marks inside(*cluster.fabric);
  const LinksIn links_in(cluster);
  const std::vector<std::uint32_t> endpoints = endpoints_at(cluster);
  for (const CutSet& set : cut_sets) {
    inside.set(set.inside, true);
    Cut cut = cut_around(cluster, inside, links_in, endpoints, set);
    inside.set(set.inside, false);
    const bool known = std::any_of(cuts.begin(), cuts.end(), [&](const Cut& other) { return same_shape(cut, other); });
    if (!known && says_something(cut, cluster)) { cuts.push_back(std::move(cut)); }
  }
  return cuts;
}

}  // namespace athanor
