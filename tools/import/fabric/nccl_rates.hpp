#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "topologies/fabric.hpp"

namespace athanor {

// What NCCL takes links for (src/graph/topo.h and topo.cc of 2.27): the payload rate of a link is NCCL's figure, its
// line rate what the hardware signals after the line code. NCCL has no latencies: those are the presets'.

/// One NVLink of a GPU of this compute capability, times ten ("80", "90"): nothing below 60.
std::optional<Link> nccl_nvlink(int compute_capability);

/// A PCIe link of so many lanes of "16.0 GT/s PCIe". As NCCL: a speed that is not known is that of PCIe 3, a width of 0
/// is 16 lanes.
Link nccl_pcie(std::string_view speed, std::int64_t width);
/// Whether the speed is one that NCCL knows.
bool nccl_knows_pcie_speed(std::string_view speed);

struct NcclCpu {
  std::string_view arch;    ///< "x86_64", "arm64", "ppc64"
  std::string_view vendor;  ///< "GenuineIntel", "AuthenticAMD", "CentaurHauls", "  Shanghai  "
  int family = 0;
  int model = 0;
};
/// Between two CPUs (NUMA nodes) of one host. None for a processor that NCCL has no figure for.
std::optional<Link> nccl_socket(const NcclCpu& cpu);

/// What NCCL calls local: a NIC that stands directly below a CPU, several ports of one NIC, peer switches.
Link nccl_local();

/// A GPU's connection to its CPU, from megabytes a second.
Link nccl_c2c(std::int64_t megabytes);

}  // namespace athanor
