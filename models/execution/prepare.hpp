#pragma once

#include "models/execution/mapped_schedule.hpp"
#include "models/execution/simulate.hpp"

namespace athanor {

/// A schedule as it is simulated: in classes where the options allow that, else every agent on its own.
struct PreparedSchedule {
  MappedSchedule mapped;
  bool by_blocks = false;  ///< classes were found node by node (fold_by_blocks)
};

/// Whether agents that are equal are simulated once.
bool finds_classes(const SimulationOptions& options);

/// `in_calls`: calls of it follow each other. Throws as lay_out().
PreparedSchedule prepare(const Schedule& schedule, const Cluster& cluster, const Placement& placement,
                         const CostModel& costs, const SimulationOptions& options, bool in_calls);

}  // namespace athanor
