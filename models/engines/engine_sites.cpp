#include "models/engines/engine_sites.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "topologies/cluster.hpp"

namespace athanor {

namespace {

bool joined(const Fabric& fabric, VertexId from, VertexId to) {
  const Fabric::OutLinks out = fabric.out(from);
  for (LinkId link{out.first}; link.value < out.first + out.count; ++link.value) {
    if (fabric.target(link) == to && !fabric.link(link).down) { return true; }
  }
  return false;
}

/// The first NVSwitch that is next to all of these, by NVLinks that work.
std::optional<VertexId> nvswitch_of(const Fabric& fabric, std::span<const VertexId> endpoints) {
  const Fabric::OutLinks out = fabric.out(endpoints.front());
  for (LinkId link{out.first}; link.value < out.first + out.count; ++link.value) {
    const VertexId neighbour = fabric.target(link);
    if (fabric.vertex(neighbour).kind != VertexKind::nvswitch) { continue; }
    const bool all = std::all_of(endpoints.begin(), endpoints.end(), [&](VertexId rank) {
      return joined(fabric, rank, neighbour) && joined(fabric, neighbour, rank);
    });
    if (all) { return neighbour; }
  }
  return std::nullopt;
}

constexpr const char* kOnlyPass = "these NVSwitches only pass on: NVLink SHARP came with their third generation (H100)";

EngineSites on_nvswitch(const Cluster& cluster, std::uint32_t ranks) {
  if (!cluster.nvswitches_reduce) { return {.refusal = kOnlyPass}; }
  if (ranks <= cluster.endpoints_per_node && !cluster.endpoints.empty()) {
    const auto found = nvswitch_of(*cluster.fabric, std::span(cluster.endpoints.data(), ranks));
    if (found) { return {.vertices = {*found}}; }
  }
  return {.refusal = "it needs all ranks on one NVSwitch"};
}

EngineSites on_endpoint(const Cluster& cluster, std::uint32_t ranks) {
  if (cluster.endpoints.size() > ranks) { return {.vertices = {cluster.endpoints[ranks]}}; }
  return {.refusal = fmt::format("it needs an endpoint for its server beside the {} ranks", ranks)};
}

/// Adds a tree over each of these groups, and its switches.
void add_trees(EngineSites& sites, std::vector<std::vector<VertexId>> groups, const TreeSource& trees) {
  if (!trees) {
    sites.refusal = R"(no switch of the network aggregates (see "aggregation" of "network"))";
    return;
  }
  TreeGrant grant = trees({.groups = std::move(groups)});
  if (grant.refusal) { sites.refusal = grant.refusal->reason; }
  for (PlacedTree& placed : grant.trees) {
    sites.vertices.insert(sites.vertices.end(), placed.switches.begin(), placed.switches.end());
    sites.trees.push_back(std::move(placed.tree));
  }
}

EngineSites on_switches(const Cluster& cluster, std::uint32_t ranks, const TreeSource& trees) {
  EngineSites sites;
  add_trees(sites, {{cluster.endpoints.begin(), cluster.endpoints.begin() + ranks}}, trees);
  return sites;
}

/// Why the ranks do not fill several nodes; "": they do. NVSwitches have something to add up where a node has several;
/// a rank that is alone in its node is the node's only head, as in a data-parallel group beside tensor-parallel ones.
std::string no_whole_nodes(const Cluster& cluster, std::uint32_t ranks, Engine engine) {
  const std::uint32_t each = cluster.endpoints_per_node;
  if (each == 0) { return "it needs nodes of equally many ranks"; }
  if (each < 2 && needs_nvswitches(engine)) { return "it needs nodes of at least two ranks, all alike"; }
  if (ranks % each == 0 && ranks / each > 1) { return ""; }
  return fmt::format("it needs at least two whole nodes of {} ranks, not {} ranks", each, ranks);
}

/// Adds the NVSwitch of each node.
void add_nvswitches(EngineSites& sites, const Cluster& cluster, std::uint32_t ranks) {
  const std::uint32_t each = cluster.endpoints_per_node;
  for (std::uint32_t first = 0; first < ranks && sites.refusal.empty(); first += each) {
    const auto found = nvswitch_of(*cluster.fabric, std::span(cluster.endpoints.data() + first, each));
    if (found) { sites.vertices.push_back(*found); }
    if (!found) { sites.refusal = "it needs all ranks of a node on one NVSwitch"; }
  }
}

/// The ranks of one place in every node.
std::vector<VertexId> ranks_at(const Cluster& cluster, std::uint32_t ranks, std::uint32_t place) {
  std::vector<VertexId> result;
  for (std::uint32_t rank = place; rank < ranks; rank += cluster.endpoints_per_node) {
    result.push_back(cluster.endpoints[rank]);
  }
  return result;
}

/// For each of these places in a node, or for all: the ranks there.
std::vector<std::vector<VertexId>> heads_by_place(const Cluster& cluster, std::uint32_t ranks,
                                                  std::span<const std::uint32_t> heads) {
  std::vector<std::vector<VertexId>> result;
  for (const std::uint32_t place : heads) { result.push_back(ranks_at(cluster, ranks, place)); }
  for (std::uint32_t place = 0; place < cluster.endpoints_per_node && heads.empty(); ++place) {
    result.push_back(ranks_at(cluster, ranks, place));
  }
  return result;
}

EngineSites on_nodes(const Cluster& cluster, std::uint32_t ranks, Engine engine, const TreeSource& trees,
                     std::span<const std::uint32_t> heads) {
  EngineSites sites{.refusal = no_whole_nodes(cluster, ranks, engine)};
  if (needs_nvswitches(engine) && !cluster.nvswitches_reduce) { sites.refusal = kOnlyPass; }
  if (sites.refusal.empty() && needs_nvswitches(engine)) { add_nvswitches(sites, cluster, ranks); }
  if (sites.refusal.empty() && engine != Engine::nvswitches) {
    add_trees(sites, heads_by_place(cluster, ranks, heads), trees);
  }
  return sites;
}

}  // namespace

bool goes_by_nodes(Engine engine) {
  switch (engine) {
    case Engine::none:
    case Engine::nvswitch:
    case Engine::server:
    case Engine::switches: return false;
    case Engine::nvswitches:
    case Engine::switches_per_head:
    case Engine::nvswitches_and_switches: return true;
  }
  return false;
}

EngineSites find_engine_sites(const Cluster& cluster, std::uint32_t ranks, Engine engine, const TreeSource& trees,
                              std::span<const std::uint32_t> heads) {
  switch (engine) {
    case Engine::none: return {};
    case Engine::nvswitch: return on_nvswitch(cluster, ranks);
    case Engine::server: return on_endpoint(cluster, ranks);
    case Engine::switches: return on_switches(cluster, ranks, trees);
    case Engine::nvswitches:
    case Engine::switches_per_head:
    case Engine::nvswitches_and_switches: return on_nodes(cluster, ranks, engine, trees, heads);
  }
  return {};
}

}  // namespace athanor
