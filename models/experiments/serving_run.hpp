#pragma once

#include <string>
#include <vector>

#include "models/experiments/serving.hpp"
#include "models/workload/collective_timer.hpp"

namespace athanor {

/// What a serving was simulated to.
struct ServingResult {
  ServingRules rules;  ///< as they were, with the best division
  ServingSummary summary;
  std::vector<std::string> searched = {};  ///< each division with its share of requests within limits
};

/// Simulates all divisions of pools, where there are any, of which that with the largest share of requests within
/// limits counts; of several with the lower mean latency, then the first. Throws as ServingExperiment::run().
ServingResult simulate(const Serving& serving, const ServedRequests& requests, CollectiveTimer& timer, const Run& run);

/// As Experiment::work().
WorkCount work_of(const Serving& serving, const WorkloadNccl& nccl, const Platform& platform,
                  const RunOptions& options);

}  // namespace athanor
