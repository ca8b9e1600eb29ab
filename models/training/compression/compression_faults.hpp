#pragma once

#include <string>
#include <vector>

#include "models/training/architecture.hpp"
#include "models/training/parallel_plan.hpp"

namespace athanor {

/// Why this plan cannot compress what its copies send, or why that would change nothing, in the user's words; empty: it
/// can. Copies that are not there are not asked for here.
std::vector<std::string> compression_faults(const ParallelPlan& plan);

/// PowerSGD of a model none of whose matrices shrinks.
std::vector<std::string> compression_faults(const TrainedModel& model, const ParallelPlan& plan);

}  // namespace athanor
