#pragma once

#include "models/execution/run_jobs.hpp"

namespace athanor {

/// Is one of the algorithms of this request simulated packet by packet: aggregation_tree, where the engines of the
/// network have slots (NetworkEngines::slots) and there is a payload? What such a run costs beside the network:
/// the engine's latency for each packet that a switch handles, both ends' software (AggregationCost::host_latency, of
/// worker and switch together) for each packet that a host receives, and the launch. What a profile says of
/// primitives, channels and reducing is not counted.
bool uses_slots(const RunRequest& request);

/// As run_collective(), but for the algorithm that uses_slots() asks for, which run_slots() simulates; the fastest of
/// all is returned. Nothing of it is drawn on a timeline. Throws SimulationError as both do.
RunResult run_with_slots(const RunRequest& request);

/// What became of a run packet by packet, in a line for the user.
std::string slots_text(const SlotJobResult& slots);

/// As run_jobs(), but where all jobs have that one algorithm, and nothing else, run_slots() simulates them together:
/// they share the slots of switches. Job j has server j; alone it would have all slots. Where none fits, the fallbacks
/// run. Throws SimulationError as both do, and "slots" where some jobs fit and others do not, or have a choice.
JobsResult run_jobs_with_slots(const JobsRequest& request);

}  // namespace athanor
