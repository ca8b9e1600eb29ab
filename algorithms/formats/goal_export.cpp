#include "algorithms/formats/goal_export.hpp"

#include "algorithms/formats/goal_rank_writer.hpp"
#include "sim/error.hpp"

namespace athanor {

GoalSummary export_goal(const Schedule& schedule, const GoalOptions& options,
                        const std::function<void(std::string_view)>& write) {
  const AgentCount count = schedule.agent_count();
  if (count.agents > count.ranks) {
    throw ScenarioError(
        Problem{"no-goal-form",
                fmt::format("{} engines take part, and GOAL knows ranks only", count.agents - count.ranks),
                {},
                ""});
  }
  GoalSummary summary;
  GoalText text(write);
  text.add("num_ranks {}\n", count.ranks);
  for (std::uint32_t rank = 0; rank < count.ranks; ++rank) {
    text.add("\nrank {} {{\n", rank);
    GoalRankWriter(schedule, AgentId{rank}, options, {}, text, summary).write();
    text.add("}}\n");
  }
  text.flush();
  return summary;
}

}  // namespace athanor
