#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/execution/concurrent_jobs.hpp"
#include "models/execution/mapped_schedule.hpp"
#include "models/network/fabric_network.hpp"

namespace athanor {

class ExecutionObserver;
class Timeline;

/// How a schedule is simulated, and its network.
struct SimulationOptions : NetworkOptions {
  bool classes = true;                             ///< simulate one of each class of equal agents (exact)
  bool repeat_loops = true;                        ///< multiply loops that repeat (exact)
  Timeline* timeline = nullptr;                    ///< draws what is simulated, every loop of it; nullptr: nothing
  Time timeline_offset;                            ///< of the drawing: what happens before the schedule starts
  std::vector<ExecutionObserver*> observers = {};  ///< told of every loop; means nothing where agents share a machine
  ConcurrentJobs jobs = {};                        ///< that the schedule holds; the same
};

/// One collective, simulated from its launch to the end of its last lane.
struct Simulated {
  Time time;
  std::vector<Time> ends;  ///< of each of SimulationOptions::jobs
  NetworkUse network;
  std::uint32_t lanes = 0;  ///< simulated, of `all_lanes`
  std::uint32_t all_lanes = 0;
  std::uint64_t primitives = 0;     ///< simulated
  std::uint64_t skipped_loops = 0;  ///< multiplied instead of simulated
  std::uint64_t events = 0;
};

/// Runs a schedule on a cluster. But at NetworkLevel::ideal no link may have carried more than its rate (checked).
/// Throws SimulationError: "deadlock", "no-route", "time-overflow"; at packet level also as packet_topology() does.
Simulated simulate(const Schedule& schedule, const Cluster& cluster, const Placement& placement, const CostModel& costs,
                   const SimulationOptions& options);

}  // namespace athanor
