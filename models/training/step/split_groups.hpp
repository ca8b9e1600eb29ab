#pragma once

#include <cstdint>

#include "models/workload/workload.hpp"

namespace athanor {

/// Each group cut into runs of so many that follow each other. Requires that `ranks` divides the groups.
EndpointGroups runs_of(const EndpointGroups& groups, std::uint32_t ranks);

/// Of each group those at the same place of such runs: as many groups as a run has places, of one of each run.
EndpointGroups same_places_of(const EndpointGroups& groups, std::uint32_t ranks);

}  // namespace athanor
