#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "algorithms/schedule/schedule.hpp"

namespace athanor {

/// Which agent plays which role in which of several schedules that run concurrently. Ranks are those that each schedule
/// names; after all ranks follow the engines of the first schedule, then those of the second, and so on.
class AgentMapping {
 public:
  struct Role {
    std::uint32_t part = 0;  ///< which schedule
    AgentId agent;           ///< which agent of the schedule `part`
  };

  /// `agent_counts`: of each schedule. `ranks`: of each schedule, by role, the rank that plays it. `total`: ranks in
  /// all, those without a role included. Requires a rank for every role, and at most one role for every rank.
  AgentMapping(std::vector<AgentCount> agent_counts, std::vector<std::vector<std::uint32_t>> ranks,
               std::uint32_t total);

  std::uint32_t parts() const { return static_cast<std::uint32_t>(agent_counts_.size()); }
  AgentCount agent_count() const { return {static_cast<std::uint32_t>(roles_.size()), first_engine_.back()}; }
  /// Nothing for a rank without a role.
  std::optional<Role> role(AgentId agent) const;
  AgentId agent(std::uint32_t part, AgentId role) const;

 private:
  std::vector<AgentCount> agent_counts_;
  std::vector<std::vector<std::uint32_t>> ranks_;
  std::vector<std::optional<Role>> roles_;   ///< of every rank
  std::vector<std::uint32_t> first_engine_;  ///< of every schedule; one more at the end
};

/// One of several schedules that run at the same time.
struct ConcurrentPart {
  std::shared_ptr<const Schedule> schedule;
  std::vector<std::uint32_t> ranks;  ///< by role
};

/// Who plays what in concurrent() of these parts. Requires what that does.
AgentMapping agent_mapping(const std::vector<ConcurrentPart>& parts, std::uint32_t ranks);

/// Different schedules, each over ranks of its own, as one schedule over `ranks` ranks; ranks without a role have no
/// lanes and no memory. Parts that share one schedule object share its programs, so that models may take them for
/// alike; other parts have programs of their own. shift() requires that all parts that move in a buffer move equally
/// far: models of time, which do not ask, take any.
/// Requires at least one part, a rank for every role, and at most one role for every rank.
std::unique_ptr<const Schedule> concurrent(std::vector<ConcurrentPart> parts, std::uint32_t ranks);

}  // namespace athanor
