#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/software/gpu_costs.hpp"
#include "sim/config/json_value.hpp"
#include "tools/calibrate/search.hpp"

namespace athanor {

/// What the system tells of the GPUs, of one kind, that are calibrated.
struct GpuMachine {
  std::uint32_t gpus = 1;
  std::uint32_t blocks = 1;  ///< that are resident at once on one of them
  Bytes cache_size;          ///< of its L2
};

/// What is run on GPUs; Probe::workers is how many of them, and its ranks are spread over these. On one GPU: copies by
/// one block and by many at once, within the cache and beyond, messages back and forth and in streams, sums; on two,
/// where there are two, messages in one direction and in both; and on one and on all reduce-scatter, all-gather,
/// broadcast, reduce and all-to-all by all algorithms with 4 and 8 ranks, of 1 KiB to 16 MiB, every other size held
/// out. Nothing is measured on all-reduce, which is left for verification.
std::vector<Probe> gpu_probes(const GpuMachine& machine);

struct GpuFitSettings {
  GpuMachine machine;
  int evaluations = 400;  ///< of the model by each search, at most
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

/// The costs with which the model takes as long as the probes did; cache and blocks are the machine's. First launch,
/// primitives and rates from copies, then flags, then what lies between two GPUs, and then all of it together. Fills in
/// `simulated` of all probes. Throws SimulationError("not-fitted") where a cost ends at the bound of what is plausible.
GpuCosts fit_gpu_costs(std::vector<TimedProbe>& probes, const GpuFitSettings& settings);

/// How long the model says that a probe takes.
Time time_on_gpus(const Probe& probe, const GpuCosts& costs);

/// What stands around the costs in a profile's file.
struct GpuNote {
  std::string name;
  std::string machine;  ///< as measurements name it
  std::string date;
  std::string versions;
  GpuMachine gpus;
};

JsonValue gpu_profile(const GpuCosts& costs, const GpuNote& note, const std::vector<TimedProbe>& probes);

/// What a profile was fitted on, to fit it again. Throws FileError, or ScenarioError where it is no such profile.
std::vector<TimedProbe> gpu_probes_of(const std::string& path, GpuNote& note);

}  // namespace athanor
