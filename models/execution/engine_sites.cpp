#include "models/execution/engine_sites.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/error.hpp"

namespace athanor {

namespace {

bool joined(const Fabric& fabric, VertexId from, VertexId to) {
  const Fabric::OutLinks out = fabric.out(from);
  for (LinkId link{out.first}; link.value < out.first + out.count; ++link.value) {
    if (fabric.target(link) == to && !fabric.link(link).down) { return true; }
  }
  return false;
}

EngineSites on_nvswitch(const Cluster& cluster, std::uint32_t ranks) {
  const EngineSites nowhere{{}, nullptr, "it needs all ranks on one NVSwitch"};
  const Fabric& fabric = *cluster.fabric;
  if (ranks > cluster.endpoints_per_node || cluster.endpoints.empty()) { return nowhere; }
  const Fabric::OutLinks out = fabric.out(cluster.endpoints.front());
  for (LinkId link{out.first}; link.value < out.first + out.count; ++link.value) {
    const VertexId neighbour = fabric.target(link);
    if (fabric.vertex(neighbour).kind != VertexKind::nvswitch) { continue; }
    const bool all = std::all_of(cluster.endpoints.begin(), cluster.endpoints.begin() + ranks, [&](VertexId rank) {
      return joined(fabric, rank, neighbour) && joined(fabric, neighbour, rank);
    });
    if (all) { return {{neighbour}, nullptr, ""}; }
  }
  return nowhere;
}

EngineSites on_endpoint(const Cluster& cluster, std::uint32_t ranks) {
  if (cluster.endpoints.size() > ranks) { return {{cluster.endpoints[ranks]}, nullptr, ""}; }
  return {{}, nullptr, fmt::format("it needs an endpoint for its server beside the {} ranks", ranks)};
}

EngineSites on_switches(const Cluster& cluster, std::uint32_t ranks, const std::optional<EngineLimits>& aggregation) {
  if (!aggregation) {
    return {{}, nullptr, "no switch of the network aggregates (see \"aggregation\" of \"network\")"};
  }
  try {
    const std::span<const VertexId> endpoints(cluster.endpoints.data(), ranks);
    PlacedTree placed = build_aggregation_tree(*cluster.fabric, endpoints, *aggregation, cluster.network);
    return {std::move(placed.switches), std::move(placed.tree), ""};
  } catch (const SimulationError& error) { return {{}, nullptr, error.what()}; }
}

}  // namespace

EngineSites find_engine_sites(const Cluster& cluster, std::uint32_t ranks, Engine engine,
                              const std::optional<EngineLimits>& aggregation) {
  switch (engine) {
    case Engine::none: return {};
    case Engine::nvswitch: return on_nvswitch(cluster, ranks);
    case Engine::server: return on_endpoint(cluster, ranks);
    case Engine::switches: return on_switches(cluster, ranks, aggregation);
  }
  return {};
}

}  // namespace athanor
