#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/experiments/training_speeds.hpp"
#include "models/jobs/simulate_jobs.hpp"
#include "topologies/fabric/fabric.hpp"

namespace athanor {

/// What trainings of a workload do to the links between switches, over time.
struct FabricLoad {
  /// How many jobs use a link: none, one, two, three or more.
  using SharedBy = std::array<double, 4>;
  /// The links between a switch and those above it, or beside it where none is above, in both directions.
  struct OfSwitch {
    std::string name;
    std::uint32_t links = 0;
    std::vector<double>
        busy;              ///< by span of time: share of the links' time in which they send at full rate, on average
    double busiest = 0;    ///< the same of the whole time, of the link that sends most
    SharedBy shared = {};  ///< share of the links' time
  };
  double width = 0;                ///< of a span of time, in seconds
  std::vector<OfSwitch> switches;  ///< those that have any, in the order of layers from the nodes upwards
};

/// Of a run whose stints were kept. A job sends evenly while it has its nodes: as much as it did in all, by the time
/// that its steps took there alone. Requires at least one span.
FabricLoad fabric_load(const JobsRun& run, const JobList& jobs, const Fabric& fabric, TrainingSpeeds& trainings,
                       std::uint32_t spans);

}  // namespace athanor
