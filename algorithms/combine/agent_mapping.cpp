#include "algorithms/combine/agent_mapping.hpp"

#include <algorithm>
#include <utility>

#include "sim/check.hpp"

namespace athanor {

AgentMapping::AgentMapping(std::vector<Roster> rosters, std::vector<std::vector<std::uint32_t>> ranks,
                           std::uint32_t total)
    : rosters_(std::move(rosters)), ranks_(std::move(ranks)), roles_(total), first_engine_{total} {
  require(rosters_.size() == ranks_.size(), "{} lists of ranks for {} schedules", ranks_.size(), rosters_.size());
  for (std::uint32_t part = 0; part < parts(); ++part) {
    require(ranks_[part].size() == rosters_[part].ranks, "{} ranks for {} roles", ranks_[part].size(),
            rosters_[part].ranks);
    for (std::uint32_t role = 0; role < ranks_[part].size(); ++role) {
      const std::uint32_t rank = ranks_[part][role];
      require(rank < total && !roles_[rank], "rank {} of {} cannot play role {} of schedule {}", rank, total, role,
              part);
      roles_[rank] = Role{part, AgentId{role}};
    }
    first_engine_.push_back(first_engine_.back() + rosters_[part].agents - rosters_[part].ranks);
  }
}

std::optional<AgentMapping::Role> AgentMapping::role(AgentId agent) const {
  if (agent.value < roles_.size()) { return roles_[agent.value]; }
  const auto after = std::upper_bound(first_engine_.begin(), first_engine_.end(), agent.value);
  require(after != first_engine_.end(), "agent {} of {}", agent.value, first_engine_.back());
  const auto part = static_cast<std::uint32_t>(after - first_engine_.begin() - 1);
  return Role{part, AgentId{rosters_[part].ranks + agent.value - first_engine_[part]}};
}

AgentId AgentMapping::agent(std::uint32_t part, AgentId role) const {
  if (role.value < rosters_[part].ranks) { return AgentId{ranks_[part][role.value]}; }
  return AgentId{first_engine_[part] + role.value - rosters_[part].ranks};
}

}  // namespace athanor
