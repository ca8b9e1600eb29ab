#pragma once

#include <functional>

#include "models/execution/run.hpp"
#include "models/nccl/tuning/communicator.hpp"
#include "tools/explain/explanation.hpp"

namespace athanor {

/// The time of one of the request's algorithms with one protocol, or why it cannot run.
using SimulateCandidate = std::function<ExplainedCandidate(const Algorithm& algorithm, const std::string& protocol)>;

/// Every algorithm and protocol of NCCL for the request's collective, with NCCL's prediction beside the simulated time;
/// one line for an algorithm that cannot run at all. That of the explanation's result is chosen. Requires that NCCL
/// carries out the request, by one of its collectives.
std::vector<ExplainedCandidate> nccl_candidates(const RunRequest& request, const Explanation& explanation,
                                                const SimulateCandidate& simulate);

/// NCCL's part of an explanation: version and environment, why it chose so, its cut of the call, and its channels.
/// `explanation` has its candidates already, of which one is chosen.
void explain_nccl(const RunRequest& request, Explanation& explanation);

/// The way of each channel of a graph through a node; equal ones that follow each other are one.
std::vector<ExplainedWay> ways_of(const ChannelGraph& graph);

/// The same in words: "NIC 0 > 0 7 6 5 4 3 2 1 > NIC 1". Equal ones in one line.
std::vector<std::string> channel_lines(const ChannelGraph& graph);

}  // namespace athanor
