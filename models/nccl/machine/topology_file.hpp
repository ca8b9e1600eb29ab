#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/field_value.hpp"
#include "topologies/node/node_identity.hpp"

namespace athanor {

/// A machine as NCCL writes it with NCCL_TOPO_DUMP_FILE and reads it with NCCL_TOPO_FILE: what its XML says, line
/// numbers for problems included. Branches without a GPU or a NIC are left out, as NCCL does.
struct NcclTopology {
  struct Gpu {
    std::uint32_t dev = 0;
    std::optional<std::uint32_t> compute_capability;  ///< times ten
    std::optional<std::uint32_t> rank;                ///< where the file has ranks; then those without are left out
    bool gdr = true;
    std::int64_t to_nvswitch = 0;  ///< NVLinks
    std::int64_t to_cpu = 0;       ///< NVLinks, of POWER
    std::int64_t c2c = 0;          ///< MB/s
    int line = 0;
  };
  struct Net {
    std::string name;
    std::uint32_t dev = 0;
    std::int64_t megabits = 0;  ///< 0: not known
    double latency = 0;         ///< us
    bool gdr = true;
    std::optional<bool> reduces;  ///< "coll"
    std::optional<std::uint64_t> guid;
    std::uint32_t port = 0;
    int line = 0;
  };
  struct Pci {
    std::string bus;
    std::string speed;        ///< "16.0 GT/s PCIe"
    std::int64_t width = 0;   ///< lanes; 0: not known
    std::uint64_t model = 0;  ///< vendor, device, subsystem vendor and device, 16 bits each
    std::optional<Gpu> gpu;
    std::vector<Net> nets;           ///< of a NIC
    std::vector<Pci> below;          ///< of a switch
    std::vector<std::string> peers;  ///< switches that it passes traffic to directly
    int line = 0;
  };
  struct Cpu {
    std::int64_t numa = -1;
    CpuIdentity identity;
    std::vector<Pci> below;
    std::vector<Net> nets;  ///< that stand directly below it
    int line = 0;
  };
  /// NVLinks between two GPUs, by their bus ids.
  struct Cable {
    std::string a, b;
    std::int64_t count = 0;
  };
  std::vector<Cpu> cpus;
  std::vector<Cable> cables;
  std::size_t unranked = 0;        ///< GPUs that were left out
  std::size_t unknown_speeds = 0;  ///< PCIe links that will be taken for PCIe 3
};

/// Problems: malformed XML, several hosts in one file, no GPU, devices that come twice, NVLinks to nowhere or that the
/// other GPU does not have, GPUs without a known rate of NVLink, numbers that are none. After 20 no more are told. With
/// problems the result is not to be used.
NcclTopology parse_nccl_topology(std::string_view text, const std::string& file, Problems& problems);

/// Leaves out what leads to no GPU and no NIC.
void trim(NcclTopology& topology);

/// "00000000:C4:00.0" and "0000:c4:00.0" are one.
std::string nccl_bus_id(std::string_view text);

}  // namespace athanor
