#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/training/kernel.hpp"
#include "sim/config/fields.hpp"
#include "sim/time.hpp"
#include "topologies/scenario/presets.hpp"

namespace athanor {

/// US dollars, from the cheapest offer to the dearest.
struct UsdRange {
  double least = 0;
  double most = 0;
  bool operator==(const UsdRange&) const = default;
};

/// What a GPU could do at most: of a preset (scenarios/presets/gpus.json), dense rates.
struct GpuRates {
  std::string name{};                 ///< as results name it
  std::string preset{};               ///< by which compute profiles are found; "": none
  std::string generation{};           ///< "hopper"; "": not known
  bool as_preset = true;              ///< computes as the preset does, up to its power
  std::map<Precision, double> flops;  ///< per second
  double memory_bandwidth = 0;        ///< bytes per second, read and write together
  double memory = 0;                  ///< bytes
  double host_bandwidth = 0;          ///< bytes per second to the host's memory, and as many back; 0: not known
  double power_w = 0;                 ///< 0: not known
  double limited_from_w = 0;          ///< the preset's, where `power_w` is a lower limit; else 0
  double clock = 1;                   ///< share of its clock that the limit leaves; `flops` are under it
  double idle_w = 0;                  ///< nothing runs on it; 0: not known
  std::optional<UsdRange> rent{};     ///< per hour
  double multiprocessors = 0;         ///< 0: not known
  /// Products in MXFP8, and of fp8 matrices in any order.
  bool multiplies_in_blocks() const { return generation == "blackwell"; }
  bool operator==(const GpuRates&) const = default;
};

GpuRates gpu_rates(const std::string& name, const GpuPreset& preset);

/// Operations per second; fp16 where only bf16 is known, the other way not (V100 has no bf16), tf32 as fp32 where it is
/// not known. Throws SimulationError("no-such-precision"), saying what the GPU has.
double peak_of(const GpuRates& gpu, Precision precision);

/// How much of a peak products of matrices reach.
struct ProductEfficiency {
  double share = 0.7;  ///< of the largest
  double depth = 250;  ///< elements: half of it is lost where the inner side k is as short
};

/// How much of a GPU a generation of software reaches: calibrated from published steps.
/// t(gemm) = flops / peak(precision) / share x (1 + depth/k) x (1 + waves x multiprocessors / 2 tiles), a tile being
/// 128 x 256 elements of what comes out, and not less than its bytes take; t(attention) = flops / (peak attention), by
/// shape x (1 + filling / tokens attended to) x (1 + 48 / head) / (1 + 48 / 128), and not less; t(memory) = bytes /
/// (bandwidth memory); each + overhead.
struct ComputeProfile {
  std::string name = "none";
  std::string description;
  std::string source;
  ProductEfficiency gemm;                         ///< of 32 and 16 bits
  std::map<Precision, ProductEfficiency> narrow;  ///< of fp8 and fp4; absent: as `gemm`
  double waves = 1;                               ///< how much of it the last wave of blocks is said to lose: 1, half
  double attention = 0.5;                         ///< share of the peak of what it is computed in
  bool attention_by_shape = false;                ///< `attention` is of long sequences and heads of 128 elements
  double memory = 0.85;                           ///< share of the bandwidth
  Time overhead;                                  ///< of each kernel
  Time launch;                                    ///< what the host takes to dispatch a kernel
  Time pass_overhead;                             ///< of each pass of a micro-batch through a chunk of a pipeline
  double interference = 0;                        ///< how much longer kernels take while the GPU communicates
  double straggler_growth = 0;  ///< how much longer a step takes with each doubling of GPUs beyond 8: stragglers
  /// What it was fitted on; elsewhere it is extrapolated. Empty lists: not fitted.
  struct Domain {
    std::vector<std::string> gpus;
    std::vector<Precision> precisions;
    std::vector<std::string> measurements;
    std::vector<std::string> models;        ///< by name
    std::uint32_t steps = 0;                ///< 0: not said
    std::vector<std::string> software{};    ///< that took these steps, with its releases
    std::vector<std::string> frameworks{};  ///< that it is of
  } fitted;
  bool pooled = false;  ///< its figures are what a pool expects; not of files

  const ProductEfficiency& products(Precision precision) const;
  bool covers(const std::string& gpu, Precision precision) const;
};

void visit(Fields& fields, ComputeProfile& profile);

/// How often GPUs were doubled beyond 8: what ComputeProfile::straggler_growth counts.
double straggler_doublings(double gpus);

/// How long one kernel takes, to the nearest picosecond. Throws as peak_of.
Time time_of(const Kernel& kernel, const GpuRates& gpu, const ComputeProfile& profile);
/// One after the other.
Time time_of(const Kernels& kernels, const GpuRates& gpu, const ComputeProfile& profile);
/// What the host takes to dispatch them one by one.
Time launch_time(const Kernels& kernels, const ComputeProfile& profile);

}  // namespace athanor
