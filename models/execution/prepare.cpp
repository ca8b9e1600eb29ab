#include "models/execution/prepare.hpp"

#include <optional>
#include <utility>

#include "models/execution/block_folding.hpp"
#include "models/network/slack_links.hpp"

namespace athanor {

/// At packet level queues tell equal agents apart, and loops.
bool finds_classes(const SimulationOptions& options) {
  return options.classes && options.level != NetworkLevel::packet;
}

PreparedSchedule prepare(const Schedule& schedule, const Cluster& cluster, const Placement& placement,
                         const CostModel& costs, const SimulationOptions& options, bool in_calls) {
  const bool classes = finds_classes(options);
  if (classes && options.jobs.starts.empty() && schedule.agent_count().agents >= options.blocks_from) {
    std::optional<MappedSchedule> folded = fold_by_blocks(schedule, cluster, placement, costs, in_calls);
    if (folded) { return {std::move(*folded), true}; }
  }
  MappedSchedule mapped = lay_out(schedule, cluster, placement, costs);
  mapped.in_calls = in_calls;
  assign_starts(mapped, options.jobs);
  if (classes) {
    mark_slack_links(mapped.network.graph);
    mapped = fold(mapped, schedule);
  }
  return {std::move(mapped), false};
}

}  // namespace athanor
