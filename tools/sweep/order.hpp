#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "models/experiments/scenario/scenario.hpp"
#include "models/experiments/scenario/sweep/plan.hpp"
#include "tools/cli/command.hpp"

namespace athanor {

/// What a sweep simulates. The same in every thread and process that takes part.
struct SweepOrder {
  std::string path;  ///< of the scenario
  SweepPlan plan;
  std::vector<std::size_t> cases;  ///< of each case of the plan its place in the file
  ScenarioChanges changes;         ///< beside those of a point
  RunOptions options;              ///< how each is simulated
  const CommonOptions& common;
};

}  // namespace athanor
