#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "topologies/cluster.hpp"
#include "topologies/description.hpp"

namespace athanor {

namespace {

/// Routes are written for so many pairs of endpoints at most: a file of some tens of megabytes.
constexpr std::size_t kMostPairs = 65'536;

nlohmann::ordered_json vertices_of(const Fabric& fabric) {
  nlohmann::ordered_json vertices = nlohmann::ordered_json::array();
  for (std::uint32_t v = 0; v < fabric.vertices(); ++v) {
    vertices.push_back({{"name", fabric.name(VertexId{v})}, {"kind", name(fabric.vertex(VertexId{v}).kind)}});
  }
  return vertices;
}

nlohmann::ordered_json links_of(const Cluster& cluster) {
  const Fabric& fabric = *cluster.fabric;
  nlohmann::ordered_json links = nlohmann::ordered_json::array();
  for (std::uint32_t l = 0; l < fabric.links(); ++l) {
    const Link& link = fabric.link(LinkId{l});
    links.push_back({{"from", fabric.source(LinkId{l}).value},
                     {"to", fabric.target(LinkId{l}).value},
                     {"kind", name(link.kind)},
                     {"rate_bytes_per_s", link.rate.count()},
                     {"usable_bytes_per_s", link.usable.count()},
                     {"latency_ps", link.latency.count()}});
    if (link.down) { links.back()["down"] = true; }
    if (link.network > 0) { links.back()["network"] = cluster.networks[link.network - 1U].name; }
  }
  return links;
}

/// So many flows between two endpoints are looked at; equally long paths are hashed over, so that they tell them apart.
constexpr std::uint64_t kFlows = 32;

std::vector<LinkId> route(const Cluster& cluster, VertexId from, VertexId to, std::uint64_t flow) {
  std::vector<LinkId> path;
  cluster.router->route({from, to, flow}, path);
  return path;
}

nlohmann::ordered_json route_of(const Cluster& cluster, VertexId from, VertexId to) {
  const std::vector<LinkId> path = route(cluster, from, to, 0);
  bool by_flow = false;
  for (std::uint64_t flow = 1; flow < kFlows && !by_flow; ++flow) { by_flow = route(cluster, from, to, flow) != path; }
  nlohmann::ordered_json links = nlohmann::ordered_json::array();
  for (const LinkId link : path) { links.push_back(link.value); }
  return {{"from", from.value}, {"to", to.value}, {"links", std::move(links)}, {"by_flow", by_flow}};
}

nlohmann::ordered_json routes_of(const Cluster& cluster) {
  const std::size_t n = cluster.endpoints.size();
  if (n * n > kMostPairs) { return nullptr; }
  nlohmann::ordered_json routes = nlohmann::ordered_json::array();
  for (const VertexId from : cluster.endpoints) {
    for (const VertexId to : cluster.endpoints) {
      if (from != to) { routes.push_back(route_of(cluster, from, to)); }
    }
  }
  return routes;
}

}  // namespace

nlohmann::ordered_json graph_to_json(const Cluster& cluster) {
  nlohmann::ordered_json endpoints = nlohmann::ordered_json::array();
  for (const VertexId v : cluster.endpoints) { endpoints.push_back(v.value); }
  nlohmann::ordered_json fabrics = nlohmann::ordered_json::array();
  for (const NetworkSummary& network : cluster.networks) {
    fabrics.push_back({{"name", network.name}, {"kind", network.kind}, {"nics", network.nics}, {"used", network.used}});
  }
  return {{"description", cluster.description},
          {"fabrics", std::move(fabrics)},
          {"vertices", vertices_of(*cluster.fabric)},
          {"links", links_of(cluster)},
          {"endpoints", std::move(endpoints)},
          {"picture",
           {{"layout", cluster.picture.layout}, {"sizes", cluster.picture.sizes}, {"closed", cluster.picture.closed}}}};
}

nlohmann::ordered_json fabric_to_json(const Cluster& cluster) {
  nlohmann::ordered_json json = graph_to_json(cluster);
  json["routes"] = routes_of(cluster);
  return json;
}

}  // namespace athanor
