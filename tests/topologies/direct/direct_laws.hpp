#pragma once

#include <bit>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/error.hpp"
#include "tests/topologies/route_laws.hpp"
#include "topologies/formats/description.hpp"

namespace athanor::test {

/// The other end of each port to another router, by router: switches of their own, or the members that forward.
using Neighbours = std::vector<std::vector<std::uint32_t>>;

inline Neighbours neighbours_of(const Cluster& cluster) {
  const Fabric& fabric = *cluster.fabric;
  const auto forwards = [&](std::uint32_t v) {
    const VertexKind kind = fabric.vertex(VertexId{v}).kind;
    return kind == VertexKind::router || kind == VertexKind::leaf || kind == VertexKind::spine;
  };
  std::uint32_t first = 0;
  while (first < fabric.vertices() && !forwards(first)) { ++first; }
  if (first == fabric.vertices()) { first = 0; }
  Neighbours found(fabric.vertices() - first);
  for (std::uint32_t l = 0; l < fabric.links(); ++l) {
    const std::uint32_t from = fabric.source(LinkId{l}).value;
    const std::uint32_t to = fabric.target(LinkId{l}).value;
    if (from >= first && to >= first) { found[from - first].push_back(to - first); }
  }
  return found;
}

/// Cables with neither end at a host.
inline std::uint32_t inner_cables(const Cluster& cluster, bool hosts_forward) {
  const Fabric& fabric = *cluster.fabric;
  std::uint32_t links = 0;
  for (std::uint32_t l = 0; l < fabric.links(); ++l) {
    const bool at_host = fabric.vertex(fabric.source(LinkId{l})).kind == VertexKind::host ||
                         fabric.vertex(fabric.target(LinkId{l})).kind == VertexKind::host;
    links += hosts_forward || !at_host ? 1 : 0;
  }
  return links / 2;
}

/// "" where every cable between routers leads both ways, and none back to where it came from.
inline std::string broken_cables(const Neighbours& routers) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> cables;
  for (std::uint32_t router = 0; router < routers.size(); ++router) {
    for (const std::uint32_t other : routers[router]) {
      if (other == router) { return "router " + std::to_string(router) + " is mis-cabled"; }
      ++cables[{router, other}];
    }
  }
  for (const auto& [ends, count] : cables) {
    const auto back = cables.find({ends.second, ends.first});
    if (back == cables.end() || back->second != count) { return "one-way: " + std::to_string(ends.first); }
  }
  return "";
}

inline std::size_t longest_route(const Cluster& cluster, std::uint64_t flows = 1) {
  std::size_t longest = 0;
  for (const VertexId from : cluster.endpoints) {
    for (const VertexId to : cluster.endpoints) {
      for (std::uint64_t flow = 0; flow < flows; ++flow) {
        longest = std::max(longest, route(cluster, from, to, flow).size());
      }
    }
  }
  return longest;
}

/// "" where the routes of several flows between all endpoints are connected and come nowhere twice.
inline std::string broken_paths(const Cluster& cluster, std::uint64_t flows) {
  for (const VertexId from : cluster.endpoints) {
    for (const VertexId to : cluster.endpoints) {
      for (std::uint64_t flow = 0; flow < flows; ++flow) {
        const std::string wrong = broken(*cluster.fabric, from, to, route(cluster, from, to, flow));
        if (!wrong.empty()) { return cluster.fabric->name(from) + " to " + cluster.fabric->name(to) + ": " + wrong; }
      }
    }
  }
  return "";
}

/// The fewest cables between any two halves of the routers, of all halves there are. Requires an even number, up to 20.
inline std::uint32_t bisection_by_search(const Neighbours& routers) {
  const auto n = static_cast<std::uint32_t>(routers.size());
  std::vector<std::pair<std::uint32_t, std::uint32_t>> links;
  for (std::uint32_t router = 0; router < n; ++router) {
    for (const std::uint32_t other : routers[router]) { links.emplace_back(router, other); }
  }
  std::uint32_t least = ~0U;
  for (std::uint32_t set = 1; set < 1U << n; set += 2) {
    if (static_cast<std::uint32_t>(std::popcount(set)) * 2 != n) { continue; }
    std::uint32_t cut = 0;
    for (const auto& [from, to] : links) { cut += (set >> from & 1U) > (set >> to & 1U) ? 1 : 0; }
    least = std::min(least, cut);
  }
  return least;
}

/// What a fabric of these keys for a population is refused with, the code first; "": it is not.
inline std::string refused(const Population& population, const std::string& keys) {
  try {
    on(population, keys);
  } catch (const ScenarioError& error) { return error.problems()[0].code + ": " + describe(error.problems()[0]); }
  return "";
}

/// In cables of 50 GB/s.
inline std::int64_t bisection(const Cluster& cluster) {
  return describe(cluster).bisection->bandwidth.count() / cable().rate.count();
}

}  // namespace athanor::test
