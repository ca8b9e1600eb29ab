#pragma once

#include <cstdint>
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
    AgentId agent;           ///< of that schedule
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

}  // namespace athanor
