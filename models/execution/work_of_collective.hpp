#pragma once

#include "models/execution/run.hpp"
#include "models/execution/run_jobs.hpp"
#include "models/network/work_count.hpp"

namespace athanor {

/// What run_collective() has to do: every candidate that it tries, of some of whose agents the schedule is looked at.
/// Where nothing fits there is nothing to do; the run says why. Throws SimulationError("no-route").
WorkCount work_of(const RunRequest& request);

/// The same of run_jobs().
WorkCount work_of(const JobsRequest& request);

}  // namespace athanor
