#include "models/synthesis/fabric_graph.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "topologies/cluster.hpp"

namespace athanor {

namespace {

class GraphOfFabric {
 public:
  GraphOfFabric(const Cluster& cluster, std::uint32_t ranks)
      : cluster_(cluster), fabric_(*cluster.fabric), ranks_(ranks), used_(fabric_.links()) {}

  FabricGraph build() && {
    mark_network();
    mark_nodes();
    number_vertices();
    for (LinkId link{0}; link.value < fabric_.links(); ++link.value) {
      if (!used_[link.value]) { continue; }
      result_.graph.links.push_back(
          {number(fabric_.source(link)), number(fabric_.target(link)), fabric_.link(link).usable.count()});
    }
    result_.graph.ranks = ranks_;
    result_.graph.vertices = static_cast<std::uint32_t>(result_.devices.size());
    return std::move(result_);
  }

 private:
  static constexpr std::uint32_t kMostNics = 8;  ///< of one GPU that are looked for

  bool usable(LinkId link) const {
    const Link& figures = fabric_.link(link);
    return !figures.down && belongs(cluster_, figures) && figures.usable > Bandwidth::zero();
  }

  void mark_network() {
    for (LinkId link{0}; link.value < fabric_.links(); ++link.value) {
      used_[link.value] = fabric_.link(link).kind == LinkKind::network && usable(link);
    }
  }

  std::uint32_t node_of(std::uint32_t rank) const { return fabric_.vertex(cluster_.endpoints[rank]).node; }

  /// Routes within each node, and of each rank to and from another node.
  void mark_nodes() {
    std::map<std::uint32_t, std::vector<std::uint32_t>> nodes;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) { nodes[node_of(rank)].push_back(rank); }
    if (nodes.contains(kNoNode)) { return; }  // endpoints are on the network themselves
    for (const auto& [node, inside] : nodes) {
      const std::uint32_t other = node == nodes.begin()->first ? nodes.rbegin()->second.front() : 0;
      mark_inside(inside);
      for (const std::uint32_t from : inside) {
        for (std::uint32_t channel = 0; channel < nics() && nodes.size() > 1; ++channel) {
          mark(from, other, channel);
          mark(other, from, channel);
        }
      }
    }
  }

  /// NVLinks alone where these join all ranks of a node: what PCIe adds would be staged in the host's memory.
  void mark_inside(const std::vector<std::uint32_t>& inside) {
    std::set<std::uint32_t> reached{inside.front()};
    std::vector<std::pair<std::uint32_t, std::uint32_t>> others;
    for (const std::uint32_t from : inside) {
      for (const std::uint32_t to : inside) {
        if (from == to) { continue; }
        if (!by_nvlink(from, to)) {
          others.emplace_back(from, to);
          continue;
        }
        mark(from, to, 0);
        if (reached.contains(from)) { reached.insert(to); }
      }
    }
    if (reached.size() == inside.size()) { return; }
    for (const auto& [from, to] : others) { mark(from, to, 0); }
  }

  bool by_nvlink(std::uint32_t from, std::uint32_t to) {
    find(from, to, 0);
    return std::all_of(path_.begin(), path_.end(), [&](LinkId link) {
      const LinkKind kind = fabric_.link(link).kind;
      return kind == LinkKind::nvlink || kind == LinkKind::c2c;
    });
  }

  std::uint32_t nics() const { return std::clamp(cluster_.nics_per_endpoint, 1U, kMostNics); }

  void mark(std::uint32_t from, std::uint32_t to, std::uint32_t channel) {
    if (from == to) { return; }
    find(from, to, channel);
    for (const LinkId link : path_) { used_[link.value] = true; }
  }

  void find(std::uint32_t from, std::uint32_t to, std::uint32_t channel) {
    RouteRequest request{cluster_.endpoints[from], cluster_.endpoints[to]};
    request.channel = channel;
    path_.clear();
    cluster_.router->route(request, path_);
  }

  void number_vertices() {
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) { number(cluster_.endpoints[rank]); }
  }

  std::uint32_t number(VertexId vertex) {
    const auto next = static_cast<std::uint32_t>(result_.devices.size());
    const auto [found, is_new] = numbers_.emplace(vertex.value, next);
    if (is_new) { result_.devices.push_back(vertex); }
    return found->second;
  }

  const Cluster& cluster_;
  const Fabric& fabric_;
  std::uint32_t ranks_;
  std::vector<bool> used_;  ///< by link
  std::map<std::uint32_t, std::uint32_t> numbers_;
  std::vector<LinkId> path_;
  FabricGraph result_;
};

}  // namespace

FabricGraph fabric_graph(const Cluster& cluster, std::uint32_t ranks) {
  FabricGraph none;
  if (cluster.processors > 0 || cluster.shared_gpus > 0) {
    none.refusal = "its ranks share one machine, where no links are";
  } else if (ranks > kMostSynthesisedRanks) {
    none.refusal = fmt::format("{} ranks; at most {} are synthesised for", ranks, kMostSynthesisedRanks);
  }
  return none.refusal.empty() ? GraphOfFabric(cluster, ranks).build() : none;
}

}  // namespace athanor
