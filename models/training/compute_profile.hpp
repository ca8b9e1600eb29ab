#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/training/kernel.hpp"
#include "sim/json/object_reader.hpp"
#include "sim/time.hpp"

namespace athanor {

/// What a GPU could do at most: of a preset (scenarios/presets/gpus.json), dense rates.
struct GpuRates {
  std::string name;
  std::map<Precision, double> flops;  ///< per second
  double memory_bandwidth = 0;        ///< bytes per second, read and write together
  double memory = 0;                  ///< bytes
  double power_w = 0;                 ///< 0: not known
};

/// How much of it a generation of software reaches: calibrated from published steps, for one GPU and one precision.
/// t(gemm) = flops / (peak gemm / (1 + shape (1/m + 1/n + 1/k))) + overhead, and not less than its bytes take;
/// t(attention) = flops / (peak attention); t(memory) = bytes / (bandwidth memory).
struct ComputeProfile {
  std::string name;
  std::string description;
  std::string source;
  double gemm = 0.7;        ///< share of peak of the largest products
  double shape = 300;       ///< elements: half of it is lost where 1/m + 1/n + 1/k = 1/shape
  double attention = 0.5;   ///< share of the peak of bf16
  double memory = 0.8;      ///< share of the bandwidth
  Time overhead;            ///< of each kernel
  double interference = 0;  ///< how much longer kernels take while the GPU communicates
  double spread = 0;        ///< how much longer a step takes with each doubling of GPUs beyond 8: stragglers
  struct Domain {
    std::vector<std::string> gpus;
    std::vector<Precision> precisions;
    std::vector<std::string> measurements;
  } fitted;
};

void read(ObjectReader& reader, ComputeProfile& profile);

/// How long one kernel takes.
Time time_of(const Kernel& kernel, const GpuRates& gpu, const ComputeProfile& profile);
Time time_of(const Kernels& kernels, const GpuRates& gpu, const ComputeProfile& profile);

}  // namespace athanor
