#pragma once

#include "algorithms/execution/rank_memory.hpp"
#include "algorithms/proof/violation.hpp"
#include "algorithms/proof/wiring.hpp"
#include "algorithms/schedule/reduction.hpp"
#include "algorithms/schedule/schedule.hpp"

namespace athanor {

/// The violation as SimulationError, with the name of its kind as code.
[[noreturn]] void fail(const Schedule& schedule, const Violation& violation);

/// What every execution needs of a schedule before it lets it touch memory. Throws SimulationError where wiring or
/// primitives are wrong.
Wiring checked_wiring(const Schedule& schedule);

/// The same for a process that carries out agent `first` and every `step`-th from there on: the wiring of all is
/// checked, and the primitives of its own agents only.
Wiring checked_wiring(const Schedule& schedule, AgentId first, std::uint32_t step);

/// Requires buffers of the sizes, and at the distance from each other, that the schedule has for this rank.
void require_fit(const Schedule& schedule, AgentId rank, const RankBuffers& buffers, DataType type);

}  // namespace athanor
