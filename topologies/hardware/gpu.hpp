#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/error.hpp"
#include "sim/power.hpp"
#include "sim/ratio.hpp"
#include "sim/units.hpp"
#include "topologies/hardware/link_config.hpp"
#include "topologies/hardware/preset_names.hpp"
#include "topologies/node/node_identity.hpp"

namespace athanor {

struct GpuPreset {
  Bytes memory;                         ///< 0: not known
  Bandwidth memory_bandwidth;           ///< reading and writing together; 0: not known
  std::map<std::string, Ratio> tflops;  ///< dense, by type: "bf16"
  std::optional<LinkConfig> nvlink;     ///< absent: has none
  std::uint32_t nvlinks = 0;
  std::optional<LinkConfig> pcie;
  std::optional<Ratio> compute_capability;  ///< of GPUs from NVIDIA: 9.0
  std::string architecture;                 ///< of GPUs from AMD: "gfx942"
  std::string vendor;                       ///< "Intel"; "": as these two say, or not known
  std::optional<Power> power;               ///< the most that it draws
  std::optional<Power> least_power;         ///< the lowest limit that it takes; none: not known
  std::optional<Power> idle_power;          ///< while nothing runs on it
  std::vector<Ratio> rent_usd_per_hour;     ///< of one, from the cheapest offer to the dearest; empty: not known
  std::uint32_t multiprocessors = 0;        ///< blocks of a kernel that run at once, one on each; 0: not known
  bool gpu_direct = true;                   ///< NICs may read and write its memory
  bool peer_access = true;                  ///< other GPUs may over PCIe
  Provenance provenance;
};

/// The figures of a GPU that somebody gives: of a preset all, of a scenario those in which it differs.
struct GpuProperties {
  std::optional<std::string> name;
  std::optional<Bytes> memory;
  std::optional<Bandwidth> memory_bandwidth;
  std::map<std::string, Ratio> tflops;
  std::optional<LinkConfig> nvlink;
  std::optional<std::uint32_t> nvlinks;
  std::optional<LinkConfig> pcie;
  std::optional<Ratio> compute_capability;
  std::optional<std::string> architecture;
  std::optional<std::string> vendor;
  std::optional<Power> power;
  std::optional<Power> least_power;
  std::optional<Power> idle_power;
  std::vector<Ratio> rent_usd_per_hour;
  std::optional<std::uint32_t> multiprocessors;
  std::optional<bool> gpu_direct;
  std::optional<bool> peer_access;
};
void visit(Fields& fields, GpuProperties& gpu);
/// Of one without a preset: what is missing. Only what training needs may be absent: it says so itself.
void check_alone(Fields& fields, const GpuProperties& gpu);
/// "compute_capability" of a GPU or of the GPUs of a node: from 1.0 to 99.9, in steps of a tenth.
void read_compute_capability(Fields& fields, std::optional<Ratio>& capability);

/// "H100-SXM-80GB", {"preset": "H100-SXM-80GB", "power": "500W"}, or all figures.
struct GpuConfig {
  std::string preset;
  GpuProperties figures;
  SourceLocation place;
};
/// As results name it: its own name; its preset, with "changed" before it where figures differ; "GPU".
std::string name_of(const GpuConfig& gpu);
/// Whether it computes as its preset does, up to its power: memory's bandwidth, rates and multiprocessors are those.
bool computes_as_preset(const GpuConfig& gpu);

/// What the text leaves out comes from its preset. None, and a problem, where there is no such preset, or where
/// figures contradict each other or a power limit is none that the preset takes.
std::optional<GpuPreset> made(const GpuConfig& config, const std::map<std::string, GpuPreset>& presets,
                              Problems& problems);
/// With these figures in place of its own.
void apply(const GpuProperties& figures, GpuPreset& gpu);

/// What the preset draws at most where the text limits the GPU to less; else none.
std::optional<Power> limited_from(const GpuConfig& config, const std::map<std::string, GpuPreset>& presets);

/// A compute capability as nodes keep it: 90 of 9.0.
std::uint32_t in_tenths(Ratio capability);
/// What the preset says of a node's identity.
NodeIdentity identity_of(const GpuPreset& gpu);

}  // namespace athanor
