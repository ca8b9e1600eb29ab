#pragma once

#include <string>
#include <vector>

#include "models/training/architecture.hpp"
#include "models/training/parallel_plan.hpp"

namespace athanor {

/// Why this plan cannot compress what its copies send, or why that would change nothing, in the user's words; empty: it
/// can. Copies that are not there are not asked for here.
std::vector<std::string> compression_faults(const ParallelPlan& plan);

/// The same of this model, of a transformer but what contradictions() says. PowerSGD needs a matrix that shrinks.
std::vector<std::string> compression_faults(const TrainedModel& model, const ParallelPlan& plan);

}  // namespace athanor
