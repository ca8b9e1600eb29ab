#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "models/workload/call_pricer.hpp"
#include "models/workload/workload.hpp"
#include "models/workload/workload_result.hpp"

namespace athanor {

class Timeline;

struct WorkloadOptions {
  double interference = 0;           ///< how much longer computing takes while the worker communicates; 0.1: 10 %
  bool critical_path = true;         ///< WorkloadResult::critical
  Timeline* timeline = nullptr;      ///< null: nothing is drawn
  std::uint32_t drawn_workers = 64;  ///< of the timeline: the first ones
};

/// What every call and message of a workload takes alone, by the number that operations are given.
struct WorkloadPrices {
  std::vector<const CallPrice*> prices;                                 ///< each once
  std::vector<std::uint32_t> of_call;                                   ///< by call of the workload
  std::map<std::pair<std::uint32_t, Bytes>, std::uint32_t> of_message;  ///< by channel and size
};

/// Throws as run_jobs().
WorkloadPrices price_all(const Workload& workload, CallPricer& pricer);

/// Runs all workers to the end. Requires numbers that exist, whatever is named by them.
/// Throws SimulationError: "deadlock" naming workers, operations and what they wait for; "mismatch" where workers of a
/// communicator call different things, or the two ends of a channel differ in size; "time-overflow".
WorkloadResult run_workload(const Workload& workload, const WorkloadPrices& prices, const WorkloadOptions& options);

}  // namespace athanor
