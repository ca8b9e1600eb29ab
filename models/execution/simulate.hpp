#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/network/link_use.hpp"
#include "models/network/network_settings.hpp"

namespace athanor {

struct Cluster;
class CostModel;
class Executor;
struct GpuCosts;
struct MappedSchedule;
struct Placement;
struct PreparedSchedule;
class Schedule;
struct ThreadCosts;

/// When the lanes of one of several jobs begin.
struct JobStart {
  Time begin;                             ///< not earlier
  std::vector<std::uint32_t> after = {};  ///< nor before these jobs have ended, which have smaller numbers
};

/// Several jobs that one schedule holds side by side.
struct ConcurrentJobs {
  std::vector<JobStart> starts;          ///< by job; empty: all is one job, which begins at once
  std::vector<std::uint32_t> of_agents;  ///< by agent, the job that it belongs to
};

/// Tells the lanes of a whole schedule when to begin. Jobs that begin at one time and that no other waits for share a
/// start, so that their lanes may be one class. Requires a job for every agent.
void assign_starts(MappedSchedule& mapped, const ConcurrentJobs& jobs);

/// When the last lane of each job ended, on an executor that has finished its schedule, folded or not; that of a job
/// without lanes is zero.
std::vector<Time> ends(const MappedSchedule& mapped, const Executor& executor, const ConcurrentJobs& jobs);

class ExecutionObserver;
class Timeline;

/// How a schedule is simulated, and its network.
struct SimulationOptions : NetworkOptions {
  bool classes = true;                             ///< simulate one of each class of equal agents (exact)
  std::uint32_t blocks_from = 1024;                ///< agents from which on classes are looked for node by node
  bool repeat_loops = true;                        ///< multiply loops and steps that repeat (exact)
  Time give_up_after = Time::max();                ///< who takes longer need not be simulated to its end
  Timeline* timeline = nullptr;                    ///< draws what is simulated, every loop of it; nullptr: nothing
  Time timeline_offset;                            ///< of the drawing: what happens before the schedule starts
  std::vector<ExecutionObserver*> observers = {};  ///< told of every loop; means nothing where agents share a machine
  ConcurrentJobs jobs = {};                        ///< that the schedule holds; the same
};

/// Loops, and steps of loops, that were multiplied because they had settled but for NetworkSettings::skip_error.
struct Settled {
  std::uint64_t loops = 0;
  std::uint64_t steps = 0;

  bool any() const { return loops + steps > 0; }
  void add(const Settled& more) {
    loops += more.loops;
    steps += more.steps;
  }
};

/// One collective, simulated from its launch to the end of its last lane.
struct Simulated {
  Time time;
  bool given_up = false;   ///< it takes at least `time`, more than SimulationOptions::give_up_after; all else is void
  Time first_end;          ///< of the rank that is done first, of those that do something
  std::vector<Time> ends;  ///< of each of SimulationOptions::jobs
  NetworkUse network;
  std::uint32_t lanes = 0;  ///< simulated, of `all_lanes`
  std::uint32_t all_lanes = 0;
  bool by_blocks = false;           ///< classes were found node by node
  std::uint64_t primitives = 0;     ///< simulated
  std::uint64_t skipped_loops = 0;  ///< multiplied instead of simulated
  std::uint64_t skipped_steps = 0;  ///< the same, of a loop with many
  Settled settled;                  ///< of these
  std::uint64_t events = 0;
};

/// Runs a schedule on a cluster. But at NetworkLevel::ideal no link may have carried more than its rate (checked).
/// Throws SimulationError: "deadlock", "no-route", "time-overflow"; at packet level also as packet_topology() does.
Simulated simulate(const Schedule& schedule, const Cluster& cluster, const Placement& placement, const CostModel& costs,
                   const SimulationOptions& options);
/// The same of one that prepare() has prepared with the same arguments; costs may have another size of elements.
Simulated simulate(const PreparedSchedule& prepared, const Schedule& schedule, const Cluster& cluster,
                   const Placement& placement, const CostModel& costs, const SimulationOptions& options);

/// Runs a schedule whose agents share one machine instead of a network: agents are simulated one by one, and no link
/// carries anything. Of the options only the timeline counts. `slots`: messages that a connection holds, at least what
/// the schedule needs. Both throw SimulationError("deadlock", "time-overflow").

/// Agents are threads on so many processors. What is timed is a repetition: caches hold what the same schedule left
/// there. Throws SimulationError("wiring") where the schedule's ends do not fit together.
Simulated simulate_on_threads(const Schedule& schedule, std::uint32_t processors, const ThreadCosts& costs,
                              Bytes element_size, std::uint32_t slots, const SimulationOptions& options);

/// Agents are on so many GPUs, each of their lanes a thread block. Throws SimulationError("gpu-residency").
Simulated simulate_on_gpus(const Schedule& schedule, std::uint32_t gpus, const GpuCosts& costs, Bytes element_size,
                           std::uint32_t slots, const SimulationOptions& options);

}  // namespace athanor
