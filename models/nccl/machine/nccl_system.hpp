#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/nccl/channel_graph.hpp"
#include "models/software/nccl.hpp"
#include "topologies/node/node_identity.hpp"

namespace athanor {

struct Cluster;

/// What NCCL tells apart among devices.
enum class NcclDevice : std::uint8_t { gpu, pci, nvs, cpu, nic, net };
enum class NcclLinkKind : std::uint8_t { loc, nvl, c2c, pci, sys, net };

/// What NCCL counts for a link that does not bound anything: 5000 GB/s.
constexpr std::int64_t kNcclLocal = 5'000'000;

/// A node as NCCL sees it (2.30, src/graph/topo.cc): devices and directed links with NCCL's own rates, which are not
/// the hardware's. All rates are in MB/s (1e6 bytes/s), and whole, as NCCL rounds them.
///
/// One vertex stands for all NVSwitches. A NIC's port to the network is a device of its own (net) behind the NIC.
struct NcclSystem {
  struct Link {
    std::uint32_t to = 0;
    NcclLinkKind kind = NcclLinkKind::loc;
    std::int64_t rate = 0;
    std::int64_t nvlinks =
        0;  ///< of kind nvl: how many, each at the rate of the GPU's compute capability; 0: not known
  };
  struct Vertex {
    NcclDevice kind = NcclDevice::pci;
    std::uint32_t number = 0;  ///< its place among its kind
    std::vector<Link> links;   ///< widest first, but the route to the CPU last
  };
  struct Gpu {
    std::uint32_t vertex = 0;
    std::uint32_t rank = 0;  ///< its number in channels: 0 .. GPUs - 1
    std::uint32_t dev = 0;   ///< its number on the machine
    /// Times ten. None: not known, or not from NVIDIA; then it is treated as one of 80 of which nothing is known that
    /// came later.
    std::optional<std::uint32_t> compute_capability;
    bool gdr = true;                ///< GPUDirect RDMA
    bool peer = true;               ///< direct access to and from other GPUs over PCIe
    std::string architecture = {};  ///< of GPUs from AMD: "gfx942"
  };
  struct Net {
    std::uint32_t vertex = 0;
    std::uint32_t dev = 0;  ///< its number in channels
    std::int64_t rate = 0;
    double latency = 0;  ///< us
    bool gdr = true;
    std::optional<bool> reduces;  ///< switches behind it add up (SHARP); none: the file does not say
    std::uint64_t guid = 0;       ///< of the card; ports of one guid and number are one
    std::uint32_t port = 0;
    std::uint32_t ports = 1;  ///< NICs from `dev` on that NCCL has merged into this one
  };
  struct Cpu {
    std::uint32_t vertex = 0;
    CpuIdentity identity;
  };

  std::vector<Vertex> vertices;
  std::vector<Gpu> gpus;  ///< in the order in which NCCL meets them
  std::vector<Net> nets;
  std::vector<Cpu> cpus;
  std::optional<std::uint32_t> nvs;  ///< vertex
};

/// The compute capability that decides: 80 where it is not known.
std::uint32_t compute_capability(const NcclSystem::Gpu& gpu);
/// The least of all GPUs. Requires one.
std::uint32_t least_compute_capability(const NcclSystem& system);

std::uint32_t add_vertex(NcclSystem& system, NcclDevice kind);
/// Adds a link in one direction; adds up with a link of the kind that is there.
void connect(NcclSystem& system, std::uint32_t from, const NcclSystem::Link& link);
/// Adds a link in both directions.
void connect_both(NcclSystem& system, std::uint32_t a, std::uint32_t b, NcclLinkKind kind, std::int64_t rate,
                  std::int64_t nvlinks = 0);
/// The vertex of all NVSwitches, made when it is first asked for.
std::uint32_t nvs_vertex(NcclSystem& system);
/// Of every device below a CPU the link towards the CPU becomes the last.
void sort_links(NcclSystem& system);

/// The system with the rates that a version counts for NVLinks.
NcclSystem as_counted(NcclSystem system, const NcclVersion& version);

/// The system with some of its GPUs only, by rank, each once and in ascending order: NCCL does not see the others,
/// which means that nothing goes through them either. GPU i of the list gets rank i. Requires one at least.
NcclSystem with_gpus(const NcclSystem& system, const std::vector<std::uint32_t>& ranks);

/// The system with the ports of each card as one net of all their rates, at the place of the first: so many at most, of
/// those whose numbers follow each other (2.20, src/transport/net_ib.cc: ncclIbFindMatchingDev; from 2.24 on
/// src/graph/topo.cc: ncclTopoAutoMerge). Messages are cut into equal parts for the ports.
NcclSystem with_merged_ports(const NcclSystem& system, std::uint32_t most);

/// How many ports of a card a version merges at most, where it may: 1 before 2.20, 2 before 2.24, then 4.
std::uint32_t most_merged_ports(const NcclVersion& version);

/// The first node of a cluster, GPUs and NICs by their numbers there. NICs are those on the network that ranks use, at
/// its line rate; several ports of one count together. CPUs and GPUs are what the identity of the cluster says. Rates
/// of PCIe and CPU links are NCCL's for the generation and width, or CPU, and the payload rate of the link where that
/// is not known. Sockets that no link joins are hosts of their own, as in a rack on NVLink.
///
/// An endpoint that is no GPU of a node is taken for a machine of one GPU and one NIC.
NcclSystem nccl_system(const Cluster& cluster);

/// What users and plugins change about NCCL's search.
struct SearchSettings {
  NcclVersion version;
  std::uint32_t cross_nic = 2;          ///< NCCL_CROSS_NIC: 0 never, 1 always, 2 if it helps (2.19: as 1)
  bool pxn = true;                      ///< not NCCL_PXN_DISABLE=1
  std::optional<NcclPath> p2p_level{};  ///< NCCL_P2P_LEVEL; loc is NCCL_P2P_DISABLE=1. None: NCCL chooses
  std::optional<NcclPath> gdr_level{};  ///< NCCL_NET_GDR_LEVEL. None: NCCL chooses
  bool network_gpu_direct = true;       ///< the network plugin does GPUDirect RDMA; plain TCP does not
  bool collnet = false;                 ///< NCCL_COLLNET_ENABLE=1, and switches that add up
  bool nvls = true;                     ///< NCCL_NVLS_ENABLE is not 0, and the driver has multicast
};

}  // namespace athanor
