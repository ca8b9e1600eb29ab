#include "algorithms/schedule/schedule.hpp"

#include "sim/error.hpp"

namespace athanor {

void ElementCount::overflow() { throw SimulationError("size-overflow", "a payload exceeds 9.2e18 elements"); }

std::uint32_t Schedule::channel(AgentId, LaneId lane) const { return lane.value; }

}  // namespace athanor
