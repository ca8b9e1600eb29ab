#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "algorithms/schedule/agent_mapping.hpp"
#include "algorithms/schedule/schedule.hpp"

namespace athanor {

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
