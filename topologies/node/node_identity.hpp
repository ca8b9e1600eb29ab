#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace athanor {

/// What a CPU calls itself by cpuid, as NCCL's topology files write it: the extended family and model, shifted by four
/// bits, are added to the base ones. An EPYC of Rome is family 143, model 49.
struct CpuIdentity {
  std::string arch;    ///< "x86_64", "arm64", "ppc64"; "": not known
  std::string vendor;  ///< of x86_64: "GenuineIntel", "AuthenticAMD"
  std::uint32_t family = 0;
  std::uint32_t model = 0;
  bool operator==(const CpuIdentity&) const = default;
};

/// What communication libraries read from a machine, beside its links, to decide what to run. For the two accesses data
/// moves otherwise, too: by host memory where they are missing (NodeTemplate::staging).
struct NodeIdentity {
  /// Of the GPUs, times ten: 90 of an H100. None: not known, or not from NVIDIA, and then there is none.
  std::optional<std::uint32_t> compute_capability;
  std::string architecture;  ///< of GPUs from AMD: "gfx942" of an MI300X; "" of others
  std::string vendor;        ///< of the GPUs: "Intel"; "": not said, see gpu_vendor()
  std::string gpu;           ///< the preset that GPUs are; "": none
  std::string nic;           ///< the preset that NICs are; "": none, or several
  /// Of each NIC the first of those that are ports of the same card; empty: each is a card of its own.
  std::vector<std::uint32_t> cards;
  bool infiniband = false;  ///< a NIC frames as InfiniBand does
  std::string transport;    ///< that its operator has NCCL use between nodes; "": what is usual of such NICs
  bool gpu_direct = true;   ///< NICs may read and write the memory of the GPUs; not of consumer cards
  bool peer_access = true;  ///< GPUs may read and write each other's memory over PCIe, too; not consumer cards
  CpuIdentity cpu;          ///< of all sockets
  bool operator==(const NodeIdentity&) const = default;
};

/// Who makes the GPUs: "NVIDIA", "AMD", what is said of them; "": nobody knows.
inline std::string gpu_vendor(const NodeIdentity& identity) {
  if (!identity.vendor.empty()) { return identity.vendor; }
  if (identity.compute_capability) { return "NVIDIA"; }
  return identity.architecture.empty() ? "" : "AMD";
}

}  // namespace athanor
