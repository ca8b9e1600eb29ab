#pragma once

#include <string>
#include <vector>

#include "tests/topologies/clusters.hpp"
#include "topologies/generators.hpp"

namespace athanor::test {

inline CableSpec cable(std::int64_t gigabytes = 50) {
  using namespace literals;
  const Bandwidth rate = Bandwidth{1'000'000'000} * gigabytes;
  return {rate, rate, 50_ns, 200_ns};
}

/// A population on a fabric by the keys of its kind, all cables being cable(), or `between` those between switches.
inline Cluster on(const Population& population, const std::string& keys, const RoutingRequest& routing = {},
                  const CableSpec& between = cable()) {
  return cluster_on(keys, population, routing, between, cable());
}

/// "[4, 3]"
inline std::string list(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (const std::uint32_t number : numbers) { text += (text.empty() ? "" : ", ") + std::to_string(number); }
  return "[" + text + "]";
}

/// Bare devices or nodes at the positions of a torus, one cable from each to its neighbours.
inline Cluster torus(const Population& population, const std::vector<std::uint32_t>& sides,
                     const RoutingRequest& routing = {}, const CableSpec& between = cable()) {
  return on(population, R"("kind": "torus", "dimensions": )" + list(sides), routing, between);
}

inline ClosSpec clos_of_radix(std::uint32_t radix) {
  ClosSpec spec;
  spec.radix = radix;
  spec.host_cable = spec.up_cable = spec.core_cable = cable();
  return spec;
}

inline LinkSpec bus(std::int64_t gigabytes) {
  using namespace literals;
  const Bandwidth rate = Bandwidth{1'000'000'000} * gigabytes;
  return {rate, rate, 100_ns};
}

/// GPUs on an NVSwitch, two sockets, a PCIe switch for each GPU and its NIC.
inline NodeSpec nvswitch_node(std::uint32_t gpus, std::uint32_t nics) {
  using namespace literals;
  NodeSpec spec;
  spec.name = "test node";
  spec.gpus = gpus;
  spec.nics = nics;
  spec.scale_up = NvSwitchSpec{bus(450)};
  spec.sockets = 2;
  spec.socket_link = bus(22);
  spec.pcie_link = bus(52);
  const std::uint32_t groups = std::max(gpus, nics);
  for (std::uint32_t g = 0; g < groups; ++g) {
    PcieGroupSpec group;
    group.socket = g * 2 / groups;
    if (g < gpus) { group.gpus = {g}; }
    if (g < nics) { group.nics = {g}; }
    spec.pcie.push_back(group);
  }
  spec.nic = {50_GBps, {1, 1}, 300_ns};
  return spec;
}

/// The DGX-1V: a hybrid cube mesh, a PCIe switch for every two GPUs and a NIC.
inline NodeSpec cube_mesh_node() {
  NodeSpec spec = nvswitch_node(8, 4);
  spec.scale_up = NvlinkMeshSpec{bus(25),
                                 {{0, 2, 1, 1, 2, 0, 0, 0},
                                  {2, 0, 1, 2, 0, 1, 0, 0},
                                  {1, 1, 0, 2, 0, 0, 2, 0},
                                  {1, 2, 2, 0, 0, 0, 0, 1},
                                  {2, 0, 0, 0, 0, 2, 1, 1},
                                  {0, 1, 0, 0, 2, 0, 1, 2},
                                  {0, 0, 2, 0, 1, 1, 0, 2},
                                  {0, 0, 0, 1, 1, 2, 2, 0}},
                                 Unjoined::neighbour};
  spec.pcie = {{0, true, {0, 1}, {0}}, {0, true, {2, 3}, {1}}, {1, true, {4, 5}, {2}}, {1, true, {6, 7}, {3}}};
  return spec;
}

inline std::vector<LinkId> route(const Cluster& cluster, VertexId from, VertexId to, std::uint64_t flow = 0) {
  std::vector<LinkId> path;
  cluster.router->route({from, to, flow}, path);
  return path;
}

inline std::uint32_t count(const Fabric& fabric, VertexKind kind) {
  std::uint32_t found = 0;
  for (std::uint32_t v = 0; v < fabric.vertices(); ++v) { found += fabric.vertex(VertexId{v}).kind == kind ? 1 : 0; }
  return found;
}

inline std::uint32_t count(const Fabric& fabric, LinkKind kind) {
  std::uint32_t found = 0;
  for (std::uint32_t l = 0; l < fabric.links(); ++l) { found += fabric.link(LinkId{l}).kind == kind ? 1 : 0; }
  return found;
}

}  // namespace athanor::test
