#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tests/topologies/fabrics.hpp"
#include "topologies/routing/shortest_path_router.hpp"

namespace athanor::test {

/// What is wrong with a route, "" when nothing is: it must begin and end where it should, be connected, and come to
/// no device twice.
inline std::string broken(const Fabric& fabric, VertexId from, VertexId to, const std::vector<LinkId>& path) {
  std::set<VertexId> seen = {from};
  VertexId at = from;
  for (const LinkId link : path) {
    if (fabric.source(link) != at) { return "not connected at " + fabric.name(link); }
    at = fabric.target(link);
    if (!seen.insert(at).second) { return "comes twice to " + fabric.name(at); }
  }
  return at == to ? "" : "ends at " + fabric.name(at);
}

inline std::size_t network_links(const Fabric& fabric, const std::vector<LinkId>& path) {
  return static_cast<std::size_t>(std::count_if(
      path.begin(), path.end(), [&](LinkId link) { return fabric.link(link).kind == LinkKind::network; }));
}

/// Whether another GPU passes the data on, over NVLink: longer in links, but past no socket.
inline bool is_relayed(const Fabric& fabric, VertexId to, const std::vector<LinkId>& path) {
  return std::any_of(path.begin(), path.end(), [&](LinkId link) {
    const VertexId at = fabric.target(link);
    return at != to && fabric.vertex(at).kind == VertexKind::gpu;
  });
}

/// Every route between endpoints obeys the laws and is as short as a search of the whole graph finds; where a GPU
/// passes data on, as short outside of nodes.
inline std::string broken_routes(const Cluster& cluster, std::size_t most_ends = 40) {
  const ShortestPathRouter shortest(*cluster.fabric, 0);
  const std::size_t step = std::max<std::size_t>(1, cluster.endpoints.size() / most_ends);
  std::vector<LinkId> least;
  for (std::size_t i = 0; i < cluster.endpoints.size(); i += step) {
    for (std::size_t j = 0; j < cluster.endpoints.size(); j += step) {
      const VertexId from = cluster.endpoints[i];
      const VertexId to = cluster.endpoints[j];
      const std::vector<LinkId> path = route(cluster, from, to, i * 7 + j);
      const std::string wrong = broken(*cluster.fabric, from, to, path);
      const std::string ends = cluster.fabric->name(from) + " to " + cluster.fabric->name(to) + ": ";
      if (!wrong.empty()) { return ends + wrong; }
      least.clear();
      shortest.route({from, to, 0}, least);
      if (is_relayed(*cluster.fabric, to, path)) {
        if (network_links(*cluster.fabric, path) > network_links(*cluster.fabric, least)) { return ends + "a detour"; }
        continue;
      }
      if (path.size() != least.size()) { return ends + "not minimal"; }
    }
  }
  return "";
}

}  // namespace athanor::test
