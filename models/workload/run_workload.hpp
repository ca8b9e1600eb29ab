#pragma once

#include <cstdint>
#include <stop_token>

#include "models/workload/collective_timer.hpp"
#include "models/workload/workload.hpp"
#include "models/workload/workload_result.hpp"

namespace athanor {

class Timeline;

struct WorkloadOptions {
  double interference = 0;           ///< how much longer computing takes while the worker communicates; 0.1: 10 %
  double computing = 1;              ///< times what devices compute takes: 0.5 are devices twice as fast; above 0
  bool free_communication = false;   ///< calls and messages take no time
  bool critical_path = true;         ///< WorkloadResult::critical
  Timeline* timeline = nullptr;      ///< null: nothing is drawn
  std::uint32_t drawn_workers = 64;  ///< of the timeline: the first ones
  std::stop_token stop = {};         ///< of the Simulator
};

/// Throws as run_jobs().
WorkloadEstimates estimate_all(const Workload& workload, CollectiveTimer& timer);

/// Runs all workers to the end. Requires numbers that exist, whatever is named by them.
/// Throws SimulationError: "deadlock" naming workers, operations and what they wait for; "mismatch" where workers of a
/// communicator call different things, or the two ends of a channel differ in size; "time-overflow".
WorkloadResult run_workload(const Workload& workload, const WorkloadEstimates& estimates,
                            const WorkloadOptions& options);

}  // namespace athanor
