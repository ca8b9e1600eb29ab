#include <algorithm>
#include <cmath>
#include <map>

#include "models/nccl/machine/link_rates.hpp"
#include "models/nccl/machine/nccl_system.hpp"
#include "sim/check.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

constexpr std::int64_t kMegabyte = 1'000'000;

std::int64_t megabytes(Bandwidth rate) { return rate.count() / kMegabyte; }

/// Makes the system of one node of a fabric.
class NodeReader {
 public:
  explicit NodeReader(const Cluster& cluster)
      : cluster_(cluster), fabric_(*cluster.fabric), identity_(cluster.identity.value_or(NodeIdentity{})) {}

  NcclSystem read(std::uint32_t node) {
    for (std::uint32_t v = 0; v < fabric_.vertices(); ++v) {
      if (fabric_.vertex(VertexId{v}).node == node) { add(VertexId{v}); }
    }
    for (const auto& [vertex, local] : locals_) { add_links(VertexId{vertex}, local); }
    sort_links(system_);
    return std::move(system_);
  }

  /// Of an endpoint that is on the network itself.
  NcclSystem read_endpoint(VertexId endpoint) {
    const std::uint32_t cpu = add_cpu();
    const std::uint32_t bridge = add_vertex(system_, NcclDevice::pci);
    connect_both(system_, bridge, cpu, NcclLinkKind::pci, kNcclLocal);
    connect_both(system_, add_gpu(0), bridge, NcclLinkKind::pci, kNcclLocal);
    if (const std::int64_t rate = network_rate(endpoint); rate > 0) {
      connect_both(system_, add_nic(0, rate), bridge, NcclLinkKind::pci, kNcclLocal);
    }
    sort_links(system_);
    return std::move(system_);
  }

 private:
  void add(VertexId v) {
    const Vertex& vertex = fabric_.vertex(v);
    const std::int64_t rate = vertex.kind == VertexKind::nic ? network_rate(v) : 0;
    switch (vertex.kind) {
      case VertexKind::gpu: locals_[v.value] = add_gpu(vertex.index); return;
      case VertexKind::cpu: locals_[v.value] = add_cpu(); return;
      case VertexKind::pcie_switch: locals_[v.value] = add_vertex(system_, NcclDevice::pci); return;
      case VertexKind::nvswitch: locals_[v.value] = nvs_vertex(system_); return;
      case VertexKind::nic:
        if (rate > 0) { locals_[v.value] = add_nic(vertex.index, rate); }
        return;
      case VertexKind::process:
      case VertexKind::memory:
      case VertexKind::host:
      case VertexKind::leaf:
      case VertexKind::spine:
      case VertexKind::core:
      case VertexKind::router:
      case VertexKind::custom: return;
    }
  }

  std::uint32_t add_gpu(std::uint32_t number) {
    const std::uint32_t vertex = add_vertex(system_, NcclDevice::gpu);
    system_.gpus.push_back({vertex, number, number, identity_.compute_capability, identity_.gpu_direct,
                            identity_.peer_access, identity_.architecture});
    return vertex;
  }
  std::uint32_t add_cpu() {
    const std::uint32_t vertex = add_vertex(system_, NcclDevice::cpu);
    system_.cpus.push_back({vertex, identity_.cpu});
    return vertex;
  }
  std::uint32_t add_nic(std::uint32_t number, std::int64_t rate) {
    const std::uint32_t nic = add_vertex(system_, NcclDevice::nic);
    const std::uint32_t net = add_vertex(system_, NcclDevice::net);
    connect_both(system_, nic, net, NcclLinkKind::net, rate);
    const bool known = number < identity_.cards.size();
    const std::uint32_t card = known ? identity_.cards[number] : number;
    system_.nets.push_back({net, number, rate, 0, true, true, card, number - card + 1});
    return nic;
  }

  /// Of all its cables to the network that ranks use, in MB/s.
  std::int64_t network_rate(VertexId v) const {
    Bandwidth rate = Bandwidth::zero();
    const Fabric::OutLinks out = fabric_.out(v);
    for (std::uint32_t l = out.first; l < out.first + out.count; ++l) {
      const Link& link = fabric_.link(LinkId{l});
      if (link.kind == LinkKind::network && !link.down && belongs(cluster_, link)) { rate += link.rate; }
    }
    return megabytes(rate);
  }

  void add_links(VertexId from, std::uint32_t local) {
    const Fabric::OutLinks out = fabric_.out(from);
    for (std::uint32_t l = out.first; l < out.first + out.count; ++l) {
      const Link& link = fabric_.link(LinkId{l});
      const auto to = locals_.find(fabric_.target(LinkId{l}).value);
      if (to == locals_.end() || link.down || link.kind == LinkKind::network || to->second == local) { continue; }
      connect(system_, local, counted(link, to->second));
    }
  }

  NcclSystem::Link counted(const Link& link, std::uint32_t to) const {
    switch (link.kind) {
      case LinkKind::nvlink: return counted_nvlink(link, to);
      case LinkKind::c2c: return {to, NcclLinkKind::c2c, megabytes(link.rate), 0};
      case LinkKind::pcie: return {to, NcclLinkKind::pci, pcie_rate(link), 0};
      case LinkKind::socket: return {to, NcclLinkKind::sys, socket_rate(link), 0};
      case LinkKind::network: break;
    }
    require(false, "a link of the network inside a node");
    return {};
  }

  /// The number of NVLinks that have the line rate; where none have, the payload rate.
  NcclSystem::Link counted_nvlink(const Link& link, std::uint32_t to) const {
    const std::uint32_t capability = identity_.compute_capability.value_or(0);
    const auto one = nccl_nvlink(static_cast<int>(capability));
    if (!one) { return {to, NcclLinkKind::nvl, megabytes(link.usable), 0}; }
    const std::int64_t count = (link.rate.count() + one->rate.count() / 2) / one->rate.count();
    const std::int64_t off = std::abs(link.rate.count() - count * one->rate.count());
    if (count == 0 || off > link.rate.count() / 25) { return {to, NcclLinkKind::nvl, megabytes(link.usable), 0}; }
    return {to, NcclLinkKind::nvl, count * megabytes(one->usable), count};
  }

  static std::int64_t pcie_rate(const Link& link) {
    if (megabytes(link.rate) >= kNcclLocal) { return kNcclLocal; }
    return nccl_pcie_megabytes(link.rate).value_or(megabytes(link.usable));
  }

  std::int64_t socket_rate(const Link& link) const {
    const auto known = nccl_socket(identity_.cpu);
    return megabytes(known ? known->usable : link.usable);
  }

  const Cluster& cluster_;
  const Fabric& fabric_;
  NodeIdentity identity_;
  NcclSystem system_;
  std::map<std::uint32_t, std::uint32_t> locals_;  // of vertices of the fabric
};

}  // namespace

NcclSystem nccl_system(const Cluster& cluster) {
  require(!cluster.endpoints.empty(), "a cluster without endpoints");
  const VertexId first = cluster.endpoints.front();
  const Vertex& vertex = cluster.fabric->vertex(first);
  NodeReader reader(cluster);
  const bool in_node = vertex.node != kNoNode && vertex.kind == VertexKind::gpu;
  return in_node ? reader.read(vertex.node) : reader.read_endpoint(first);
}

}  // namespace athanor
