#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/nccl/machine/nccl_system.hpp"

namespace athanor {

/// One directed link of a system, by its number in NcclPaths.
struct NcclArc {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  NcclLinkKind kind = NcclLinkKind::loc;
  std::int64_t rate = 0;  ///< MB/s
};

/// The route that NCCL would take from one device to another.
struct NcclRoute {
  std::vector<std::uint32_t> arcs;
  std::int64_t rate = 0;  ///< of the narrowest, MB/s; 0: there is none
  NcclPath type = NcclPath::dis;
  std::uint32_t hops() const { return static_cast<std::uint32_t>(arcs.size()); }
};

/// All routes between GPUs, NICs' ports, CPUs and the NVSwitches of a node (2.30, src/graph/paths.cc): breadth first
/// from each, the better type before the greater rate before fewer links, never through a GPU but for two NVLinks; then
///  - GPUs that may not reach each other's memory directly go through the CPU of the receiver;
///  - GPUs send to a NIC by NVLink to the GPU beside it (PXN) where that is wider or avoids the CPU;
///  - without GPUDirect RDMA a GPU and a NIC meet in the memory of the GPU's CPU.
/// Vertices are those of the system, which it keeps with the rates of the version.
class NcclPaths {
 public:
  NcclPaths(const NcclSystem& system, const SearchSettings& settings);

  const NcclSystem& system() const { return system_; }
  const std::vector<NcclArc>& arcs() const { return arcs_; }
  /// The arc of the same link in the other direction; none where there is none.
  std::optional<std::uint32_t> reverse(std::uint32_t arc) const { return reverse_[arc]; }
  const NcclRoute& route(std::uint32_t from, std::uint32_t to) const {
    return routes_[from * system_.vertices.size() + to];
  }
  const NcclRoute& gpu_to_gpu(std::uint32_t from, std::uint32_t to) const {
    return route(system_.gpus[from].vertex, system_.gpus[to].vertex);
  }
  const NcclRoute& gpu_to_net(std::uint32_t gpu, std::uint32_t net) const {
    return route(system_.gpus[gpu].vertex, system_.nets[net].vertex);
  }
  const NcclRoute& net_to_gpu(std::uint32_t net, std::uint32_t gpu) const {
    return route(system_.nets[net].vertex, system_.gpus[gpu].vertex);
  }

  /// The nets that a GPU reaches best (rate, then type), by their places; and the GPUs of a net alike.
  std::vector<std::uint32_t> local_nets(std::uint32_t gpu) const;
  std::vector<std::uint32_t> local_gpus(std::uint32_t net) const;
  /// The net that a GPU uses on a channel; none where it reaches none.
  std::optional<std::uint32_t> local_net(std::uint32_t gpu, std::uint32_t channel) const;
  /// The GPU that uses a net first; none where no GPU does.
  std::optional<std::uint32_t> local_gpu(std::uint32_t net) const;
  /// The GPU that relays, where a GPU reaches a net by PXN; else itself.
  std::uint32_t sender(std::uint32_t gpu, std::uint32_t net) const;
  /// Whether data moves between a net and the memory of a GPU directly. `sends`: out of the GPU.
  bool gpu_direct(std::uint32_t gpu, std::uint32_t net, bool sends) const;
  /// Whether one GPU reads or writes the memory of another directly.
  bool peer_access(std::uint32_t from, std::uint32_t to) const;
  /// Machines without a link between their CPUs, as those of a rack on NVLink.
  std::uint32_t hosts() const { return hosts_; }

 private:
  NcclRoute& at(std::uint32_t from, std::uint32_t to) { return routes_[from * system_.vertices.size() + to]; }
  void number_arcs();
  void find_hosts();
  void find_ways_to(std::uint32_t base);
  bool improve(std::uint32_t base, std::uint32_t middle, std::uint32_t arc);
  std::optional<std::uint32_t> cpu_of(std::uint32_t gpu) const;
  void send_by(std::uint32_t from, std::uint32_t middle, std::uint32_t to);
  void divert_peers();
  void mark_c2c();
  void relay(std::uint32_t gpu, std::uint32_t net);
  void divert_nets();

  NcclSystem system_;
  SearchSettings settings_;
  std::vector<NcclArc> arcs_;
  std::vector<std::optional<std::uint32_t>> reverse_;
  std::vector<std::vector<std::uint32_t>> out_;  // arcs by vertex
  std::vector<NcclRoute> routes_;
  std::vector<std::uint32_t> host_;  // by vertex
  std::uint32_t hosts_ = 1;
};

}  // namespace athanor
