#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/training/step/simulate_step.hpp"

namespace athanor {

/// What a GPU draws and costs.
struct GpuFigures {
  std::optional<double> w = {};       ///< while it computes
  std::optional<double> idle_w = {};  ///< at all other times
  std::optional<UsdRange> usd_per_hour = {};
};

/// What a machine draws and costs; nothing is assumed in place of what is absent.
struct CostFigures {
  /// By kind, as TrainingSetup numbers them; of a scenario's own figures one for all.
  std::vector<GpuFigures> gpus = {{}};
  std::optional<double> node_w = {};    ///< of a node, all but its GPUs, at all times
  std::optional<double> switch_w = {};  ///< of a switch of the network, at all times
  double pue = 1;                       ///< what the site draws per watt of these; at least 1
  std::optional<double> usd_per_kwh = {};
  std::optional<double> tokens = {};  ///< of a whole training
};

/// How much of the machine a step takes beside GPUs.
struct MachineCount {
  std::uint32_t nodes = 0;
  std::uint32_t switches = 0;
};

/// Of one step. Energies in joules, each absent where its figures are.
struct StepCosts {
  std::optional<double> gpu_j;
  std::optional<double> node_j;
  std::optional<double> switch_j;
  std::optional<double> energy_j;         ///< of all that are known, by the site's meter; absent without GPUs'
  std::optional<double> electricity_usd;  ///< of energy_j
  std::optional<UsdRange> rent_usd;       ///< of GPU-hours
};

/// GPUs draw `w` in the share of the step in which they compute, averaged over stages, and `idle_w` else. Requires
/// figures for every kind of the step.
StepCosts costs_of(const StepResult& step, const CostFigures& figures, const MachineCount& machine);

}  // namespace athanor
