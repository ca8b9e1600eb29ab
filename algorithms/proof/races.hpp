#pragma once

#include <cstdint>
#include <optional>

#include "algorithms/proof/shared_cells.hpp"
#include "algorithms/proof/violation.hpp"

namespace athanor {

/// Two accesses of different lanes of one agent to one cell, one of them a write, that nothing orders. Ordered are:
/// the primitives of a lane; a wait after what it waits for; a receive after its send; and with S slots the send k + S
/// after the receive k. What is free of races with S slots is free of them with fewer.
/// Requires that the schedule ends with `slots`, and that `shared` has watched a complete replay.
std::optional<Violation> find_race(const Schedule& schedule, const Wiring& wiring, const SharedCells& shared,
                                   std::uint32_t slots);

}  // namespace athanor
