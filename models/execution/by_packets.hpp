#pragma once

#include <optional>
#include <string>

#include "models/aggregators/run_aggregation.hpp"
#include "models/execution/run_jobs.hpp"
#include "models/software/protocol.hpp"

namespace athanor {

/// Does this algorithm run packet by packet over memory of switches for a request that it fits, and not by its
/// schedule? An all-reduce on a tree of switches does, where the engines of the network have slots
/// (EngineDeployment::slots) and there is a payload. What such a run costs beside the network: the engine's latency for
/// each packet that a switch handles, both ends' software (EngineCost::host_latency, of worker and switch
/// together) for each packet that a host receives, and the launch. What a profile says of primitives, channels and
/// reducing is not counted.
bool goes_by_packets(const RunRequest& request, const Algorithm& algorithm);

/// Does one of the algorithms of this request?
bool uses_aggregators(const RunRequest& request);

/// The request as one job, with the costs of a protocol. Draws nothing. Throws as run_aggregation().
AggregationResult run_by_packets(const RunRequest& request, const Protocol& protocol, const NetworkOptions& options);

/// What was simulated, as of a collective.
Simulated simulated_of(AggregationResult result);

/// What became of a run packet by packet, in a line for the user.
std::string aggregation_text(const AggregationJobResult& slots);

/// All jobs together, where each has that one algorithm, and nothing else, and it fits: they share the slots of
/// switches. Job j has server j; alone it would have all slots. Nothing where none of them runs packet by packet.
/// Throws SimulationError as run_aggregation(), and "slots" where some jobs fit and others do not, or have a choice.
std::optional<JobsResult> run_jobs_by_packets(const JobsRequest& request);

}  // namespace athanor
