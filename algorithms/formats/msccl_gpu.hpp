#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/formats/msccl_document.hpp"
#include "algorithms/formats/msccl_plan.hpp"

namespace athanor {

/// One gpu's thread blocks and steps.
MscclGpu lower_to_msccl(const Schedule& schedule, const MscclPlan& plan, AgentId rank);

}  // namespace athanor
