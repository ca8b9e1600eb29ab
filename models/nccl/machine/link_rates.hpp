#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "models/software/nccl.hpp"
#include "topologies/fabric.hpp"
#include "topologies/node/node_identity.hpp"

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

/// Between two CPUs (NUMA nodes) of one host. None for a processor that NCCL has no figure for.
std::optional<Link> nccl_socket(const CpuIdentity& cpu);

/// What NCCL calls local: a NIC that stands directly below a CPU, several ports of one NIC, peer switches.
Link nccl_local();

/// A GPU's connection to its CPU, from megabytes a second.
Link nccl_c2c(std::int64_t megabytes);

/// One NVLink as a version counts it, in MB/s: before 2.19 that of compute capability 90 had 20 GB/s. Nothing below 60.
std::optional<std::int64_t> nccl_nvlink_megabytes(std::uint32_t compute_capability, const NcclVersion& version);

/// What NCCL would count for a PCIe port of this line rate, in MB/s: that of the nearest generation and width, where
/// one is within 4 %.
std::optional<std::int64_t> nccl_pcie_megabytes(Bandwidth line_rate);

/// The rates of one channel that the search tries, in MB/s and descending: inside one node, or `across` several, for
/// the least compute capability (times ten) of the GPUs. As src/graph/search.cc of 2.30 lists them; those that came
/// later than `version` are left out.
std::span<const std::int64_t> search_speeds(std::uint32_t compute_capability, bool across, const NcclVersion& version);

}  // namespace athanor
