#pragma once

#include <span>

#include "models/jobs/cluster_state.hpp"

namespace athanor {

/// Starts a job on what running ones have to give up. They are taken in the order of `victims` until it fits; then
/// those that it fits beside, after all, keep their nodes, the last of `victims` first. False: it does not fit even so,
/// and nobody has lost anything.
bool start_in_place_of(std::span<const JobId> victims, JobId job, ClusterState& state);

}  // namespace athanor
