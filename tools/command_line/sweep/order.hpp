#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/command_line/command.hpp"
#include "tools/scenario/scenario.hpp"
#include "tools/scenario/sweep/plan.hpp"

namespace athanor {

/// What a sweep simulates. The same in every thread and process that takes part.
struct SweepOrder {
  std::string path;  ///< of the scenario
  SweepPlan plan;
  std::vector<std::size_t> cases;  ///< of each case of the plan its place in the file
  ScenarioChanges changes;         ///< beside those of a point
  const Invocation& invocation;
};

}  // namespace athanor
