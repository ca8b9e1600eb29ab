#include "models/nccl/execution/communicator.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "models/nccl/machine/channel_nics.hpp"
#include "models/nccl/machine/link_rates.hpp"
#include "models/nccl/machine/paths.hpp"
#include "models/nccl/machine/search.hpp"
#include "sim/check.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

CpuArchitecture architecture_of(const CpuIdentity& cpu) {
  if (cpu.arch == "arm64") { return CpuArchitecture::arm; }
  return cpu.arch == "ppc64" ? CpuArchitecture::power : CpuArchitecture::x86;
}

CpuVendor vendor_of(const NcclSystem& system) {
  const auto is_amd = [](const NcclSystem::Cpu& cpu) { return cpu.identity.vendor == "AuthenticAMD"; };
  const auto amd = std::count_if(system.cpus.begin(), system.cpus.end(), is_amd);
  if (amd > 0) { return amd == std::ssize(system.cpus) ? CpuVendor::amd : CpuVendor::mixed; }
  const bool intel = !system.cpus.empty() && system.cpus.front().identity.vendor == "GenuineIntel";
  return intel ? CpuVendor::intel : CpuVendor::other;
}

/// The GPUs of the first node that have ranks, by their numbers in it.
std::vector<std::uint32_t> used_gpus(const Cluster& cluster, std::uint32_t local_ranks) {
  std::vector<std::uint32_t> used;
  for (std::uint32_t rank = 0; rank < local_ranks; ++rank) {
    const Vertex& vertex = cluster.fabric->vertex(cluster.endpoints[rank]);
    const bool in_node = vertex.node != kNoNode && vertex.kind == VertexKind::gpu;
    used.push_back(in_node ? vertex.index : rank);
  }
  std::sort(used.begin(), used.end());
  return used;
}

SearchSettings search_settings(const NcclSettings& settings, const NcclEnvironment& environment) {
  SearchSettings search;
  search.version = settings.version;
  search.cross_nic = environment.cross_nic;
  search.pxn = environment.pxn;
  search.p2p_level = environment.peer_access ? environment.peer_level : std::optional(NcclPath::loc);
  search.gdr_level = environment.direct_level;
  search.network_gpu_direct = settings.gpu_direct;
  search.collnet = environment.collnet;
  search.nvls = environment.nvls && settings.multicast;
  return search;
}

ChannelGraphs graphs_of(const NcclSystem& system, std::uint32_t nodes, const NcclSettings& settings,
                        const SearchSettings& search) {
  if (settings.graphs) { return *settings.graphs; }
  return search_channels(system, nodes, search);
}

/// Whether one GPU sends to nodes beyond by the NIC of another, over this one (NCCL 2.30.7, src/transport/net.cc and
/// src/graph/paths.cc: ncclTopoGetNetDev).
bool sends_by(const NcclPaths& paths, std::uint32_t gpu, std::uint32_t other, std::uint32_t level) {
  const std::optional<std::uint32_t> net = paths.local_net(other, 0);
  if (!net || paths.local_gpu(*net) != other) { return false; }
  if (level == 1) { return paths.gpu_to_net(gpu, *net).type <= NcclPath::pxn && paths.sender(gpu, *net) == other; }
  const bool near = paths.gpu_to_net(other, *net).type <= NcclPath::pxb;
  return near && (gpu == other || paths.gpu_to_gpu(gpu, other).type <= NcclPath::nvl);
}

bool has_rails(const NcclPaths& paths, const NcclEnvironment& environment, const NcclVersion& version) {
  const bool enabled = environment.pxn && environment.peer_pxn > 0 && version >= NcclVersion{2, 12, 0};
  const auto gpus = static_cast<std::uint32_t>(paths.system().gpus.size());
  if (!enabled || gpus < 2) { return false; }
  for (std::uint32_t a = 0; a < gpus; ++a) {
    for (std::uint32_t b = 0; b < gpus; ++b) {
      if (a != b && !sends_by(paths, a, b, environment.peer_pxn)) { return false; }
    }
  }
  return true;
}

/// Of the GPUs of one node, the pair that has least, and of a GPU and its NIC.
NcclPeers peers_of(const NcclSystem& system, const NcclPaths& paths) {
  NcclPeers peers;
  std::int64_t least = 0;
  for (std::uint32_t a = 0; a < system.gpus.size(); ++a) {
    for (std::uint32_t b = 0; b < system.gpus.size(); ++b) {
      if (a == b) { continue; }
      const NcclRoute& route = paths.gpu_to_gpu(a, b);
      peers.all_nvlink = peers.all_nvlink && route.type == NcclPath::nvl;
      peers.host_memory = peers.host_memory || !paths.peer_access(a, b);
      const auto one = nccl_nvlink_megabytes(compute_capability(system.gpus[a]), {});
      const std::int64_t links = one ? route.rate / *one : 1;
      least = least == 0 ? links : std::min(least, links);
    }
  }
  peers.least_links = static_cast<std::uint32_t>(std::max<std::int64_t>(1, least));
  if (system.gpus.empty()) { return peers; }
  const std::vector<std::uint32_t> nets = paths.local_nets(0);
  peers.nics = static_cast<std::uint32_t>(std::max<std::size_t>(1, nets.size()));
  for (const std::uint32_t net : nets) {
    peers.nic_rate += static_cast<double>(system.nets[net].rate) * 1e-3;
    peers.nic_path = paths.gpu_to_net(0, net).type;
  }
  return peers;
}

/// GPUs that the search made heads; where it did not search, as many as have a NIC of their own.
std::uint32_t heads_of(const ChannelGraph& direct, const NcclSystem& system) {
  std::set<std::uint32_t> heads;
  for (const NcclChannel& channel : direct.channels) {
    if (!channel.gpus.empty()) { heads.insert(channel.gpus.front()); }
  }
  const std::size_t least = std::min(system.nets.size(), system.gpus.size());
  return static_cast<std::uint32_t>(heads.empty() ? least : heads.size());
}

/// As NCCL_P2P_DISABLE, NCCL_P2P_LEVEL and NCCL_NET_GDR_LEVEL say, and the network's plugin. Levels between PIX and SYS
/// are taken to allow all of PCIe: what lies beyond them goes over the same links through the CPU either way.
NcclAccess access_of(const NcclEnvironment& environment, bool plugin_gpu_direct) {
  const NcclPath peers = environment.peer_access ? environment.peer_level.value_or(NcclPath::sys) : NcclPath::loc;
  const NcclPath nics = environment.direct_level.value_or(NcclPath::sys);
  return {peers >= NcclPath::nvl, peers >= NcclPath::pix, plugin_gpu_direct && nics >= NcclPath::pix};
}

NcclNics nics_of(const ChannelGraphs& graphs, const NcclPaths& paths) {
  return {.ring = graph_nics(graphs.ring, paths),
          .tree = graph_nics(graphs.tree, paths),
          .collnet_chain = graph_nics(graphs.collnet_chain, paths),
          .nvls = head_nics(graphs.nvls, paths),
          .collnet_direct = head_nics(graphs.collnet_direct, paths),
          .peers = peer_nics(paths)};
}

}  // namespace

NcclSystem nccl_node(const Cluster& cluster, std::uint32_t ranks, const NcclSettings& settings) {
  const std::uint32_t node = std::max(1U, std::min(ranks, cluster.endpoints_per_node));
  const NcclSystem system = settings.system ? *settings.system : nccl_system(cluster);
  return node < system.gpus.size() ? with_gpus(system, used_gpus(cluster, node)) : system;
}

NcclCommunicator nccl_communicator(const Cluster& cluster, std::uint32_t ranks, const NcclSettings& settings) {
  require(ranks >= 1 && ranks <= cluster.endpoints.size(), "{} ranks on {} endpoints", ranks, cluster.endpoints.size());
  const std::uint32_t node = std::max(1U, std::min(ranks, cluster.endpoints_per_node));
  NcclCommunicator result;
  result.version = settings.version;
  result.rccl = settings.rccl;
  result.ranks = ranks;
  result.most_local_ranks = node;
  result.nodes = (ranks + node - 1) / node;
  result.environment = nccl_environment(settings.environment, settings.version);
  const SearchSettings search = search_settings(settings, result.environment);
  const std::uint32_t ports = result.environment.merge_ports ? most_merged_ports(settings.version) : 1;
  const NcclSystem system = with_merged_ports(nccl_node(cluster, ranks, settings), ports);
  result.architecture = system.gpus.front().architecture;
  result.graphs = graphs_of(system, result.nodes, settings, search);
  const auto [least, greatest] =
      std::minmax_element(system.gpus.begin(), system.gpus.end(),
                          [](const auto& a, const auto& b) { return compute_capability(a) < compute_capability(b); });
  result.least_capability = compute_capability(*least);
  result.greatest_capability = compute_capability(*greatest);
  if (!system.cpus.empty()) { result.cpu = architecture_of(system.cpus.front().identity); }
  result.vendor = vendor_of(system);
  result.multicast = settings.multicast && cluster.nvswitches_reduce && system.nvs.has_value();
  result.nvswitch = system.nvs.has_value();
  result.registered = settings.registered_buffers;
  result.collnet = settings.collnet;
  result.collnet.heads = heads_of(result.graphs.collnet_direct, system);
  result.access = access_of(result.environment, settings.gpu_direct);
  const NcclPaths paths(system, search);
  if (result.nodes > 1) { result.nics = nics_of(result.graphs, paths); }
  result.peers = peers_of(system, paths);
  result.peers.rails = result.nodes > 1 && has_rails(paths, result.environment, settings.version);
  return result;
}

}  // namespace athanor
