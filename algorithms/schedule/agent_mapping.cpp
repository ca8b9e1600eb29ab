#include "algorithms/schedule/agent_mapping.hpp"

#include <algorithm>
#include <utility>

#include "sim/check.hpp"

namespace athanor {

AgentMapping::AgentMapping(std::vector<AgentCount> agent_counts, std::vector<std::vector<std::uint32_t>> ranks,
                           std::uint32_t total)
    : agent_counts_(std::move(agent_counts)), ranks_(std::move(ranks)), roles_(total), first_engine_{total} {
  require(agent_counts_.size() == ranks_.size(), "{} lists of ranks for {} schedules", ranks_.size(),
          agent_counts_.size());
  for (std::uint32_t part = 0; part < parts(); ++part) {
    require(ranks_[part].size() == agent_counts_[part].ranks, "{} ranks for {} roles", ranks_[part].size(),
            agent_counts_[part].ranks);
    for (std::uint32_t role = 0; role < ranks_[part].size(); ++role) {
      const std::uint32_t rank = ranks_[part][role];
      require(rank < total && !roles_[rank], "rank {} of {} cannot play role {} of schedule {}", rank, total, role,
              part);
      roles_[rank] = Role{part, AgentId{role}};
    }
    first_engine_.push_back(first_engine_.back() + agent_counts_[part].agents - agent_counts_[part].ranks);
  }
}

std::optional<AgentMapping::Role> AgentMapping::role(AgentId agent) const {
  if (agent.value < roles_.size()) { return roles_[agent.value]; }
  const auto after = std::upper_bound(first_engine_.begin(), first_engine_.end(), agent.value);
  require(after != first_engine_.end(), "agent {} of {}", agent.value, first_engine_.back());
  const auto part = static_cast<std::uint32_t>(after - first_engine_.begin() - 1);
  return Role{part, AgentId{agent_counts_[part].ranks + agent.value - first_engine_[part]}};
}

AgentId AgentMapping::agent(std::uint32_t part, AgentId role) const {
  if (role.value < agent_counts_[part].ranks) { return AgentId{ranks_[part][role.value]}; }
  return AgentId{first_engine_[part] + role.value - agent_counts_[part].ranks};
}

}  // namespace athanor
