#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tools/calibrate/calibrations.hpp"
#include "tools/calibrate/mpi_calibration.hpp"
#include "tools/measure/mpi_backend.hpp"

namespace athanor {

/// All that every process has before it begins.
struct MpiTask {
  MpiNote note;
  std::shared_ptr<const Cluster> cluster;
  std::vector<Probe> probes;
  std::uint32_t rounds = 3;
};

/// Throws UsageError where there is one process, and for a --cluster that has not one endpoint for each.
MpiTask mpi_task(const CalibrateOptions& options, const MpiBackend& backend);

/// Every probe has its turn in each round, in all processes alike. None where somebody has interrupted.
std::optional<std::vector<TimedProbe>> measured(MpiTask& task, MpiBackend& backend, const Streams& streams,
                                                Progress& progress);

/// In one process; the others may have ended. Throws as fit_mpi_profile().
Calibrated fitted_over_mpi(const MpiNote& note, const Cluster& cluster, std::vector<TimedProbe>& probes,
                           Progress& progress);

}  // namespace athanor
