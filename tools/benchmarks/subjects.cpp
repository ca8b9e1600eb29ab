#include "tools/benchmarks/subjects.hpp"

#include <cmath>

#include "sim/check.hpp"
#include "topologies/cluster.hpp"
#include "topologies/generators/assemble.hpp"
#include "topologies/generators/clos.hpp"

namespace athanor {

using namespace literals;

namespace {

CableSpec cable(Bandwidth rate, Time propagation, Time forwarding) { return {rate, rate, propagation, forwarding}; }

ClosSpec clos(const CableSpec& cable) {
  ClosSpec spec;
  spec.host_cable = spec.up_cable = spec.core_cable = cable;
  return spec;
}

Cluster on_fat_tree(const Population& population, std::uint32_t rails, const ClosSpec& spec,
                    const RoutingRequest& routing) {
  const ClosShape shape = clos_shape(population.attachments(), rails, spec);
  return assemble(population, std::make_shared<Clos>("fat tree", population, shape, spec), routing);
}

LinkSpec bus(Bandwidth rate) { return {rate, rate, 100_ns}; }

/// Eight GPUs; each shares a PCIe switch with its NIC.
NodeSpec nvswitch_node() {
  NodeSpec spec;
  spec.name = "eight GPUs on an NVSwitch";
  spec.gpus = spec.nics = 8;
  spec.scale_up = NvSwitchSpec{bus(450_GBps)};
  spec.sockets = 2;
  spec.socket_link = bus(22_GBps);
  spec.pcie_link = bus(52_GBps);
  for (std::uint32_t g = 0; g < spec.gpus; ++g) { spec.pcie.push_back({g / 4, true, {g}, {g}}); }
  spec.nic = {50_GBps, {1, 1}, 300_ns};
  return spec;
}

}  // namespace

Cluster square_fat_tree(std::uint32_t hosts_in_all) {
  const auto leaves = static_cast<std::uint32_t>(std::lround(std::sqrt(hosts_in_all)));
  require(leaves * leaves == hosts_in_all, "{} hosts are not a square number", hosts_in_all);
  ClosSpec spec = clos(cable(Bandwidth{12'500'000'000}, 500_ns, Time::zero()));
  spec.tiers = 2;
  spec.hosts_per_leaf = spec.spines = leaves;
  return on_fat_tree(hosts(hosts_in_all), 0, spec, {Routing::d_mod_k});
}

Cluster fat_tree_of_radix(std::uint32_t hosts_in_all, std::uint32_t radix, Routing routing) {
  ClosSpec spec = clos(cable(50_GBps, 50_ns, 200_ns));
  spec.radix = radix;
  return on_fat_tree(hosts(hosts_in_all), 0, spec, {routing});
}

Cluster rail_optimized_nodes(std::uint32_t count) {
  ClosSpec spec = clos(cable(50_GBps, 50_ns, 200_ns));
  spec.radix = 64;
  return on_fat_tree(nodes(count, nvswitch_node()), 8, spec, {});
}

Cluster nodes_across_leaves(std::uint32_t count) {
  ClosSpec spec = clos(cable(50_GBps, 50_ns, 200_ns));
  spec.radix = 64;
  spec.hosts_per_leaf = 12;
  return on_fat_tree(nodes(count, nvswitch_node()), 0, spec, {Routing::d_mod_k});
}

ConnectionCost HardwareOnly::connection(AgentId, AgentId, std::span<const LinkId>) const {
  ConnectionCost cost;
  cost.end = SendEnd::delivered;
  return cost;
}

}  // namespace athanor
