#pragma once

#include <optional>

#include "algorithms/proof/violation.hpp"
#include "algorithms/proof/wiring.hpp"
#include "algorithms/schedule/collective.hpp"
#include "algorithms/schedule/schedule.hpp"

namespace athanor {

/// Are the buffers those of the collective (engines have scratch only)?
std::optional<Violation> check_memory(const Schedule& schedule, const Collective& collective);

/// Every primitive by itself: ports of its lane, cells inside the buffers, each cell stored at most once and not over
/// an operand of another element, nothing stored into the input, message limit, waits for lanes that get so far.
/// And every loop but the last is loop 0 moved by shift(): a wait moves by the steps of the lane that it names, and
/// is not below zero.
std::optional<Violation> check_primitives(const Schedule& schedule, const Wiring& wiring);
/// The same of one agent alone, for who carries out only that one.
std::optional<Violation> check_primitives_of(const Schedule& schedule, const Wiring& wiring, AgentId agent);

/// Lanes of one program are equal in loops, steps, ports and primitives, up to addresses and peers; waits name lanes at
/// the same distance. Counts may differ where ranks divide the payload unevenly; `equal_counts` says that they must
/// not.
std::optional<Violation> check_programs(const Schedule& schedule, const Wiring& wiring, bool equal_counts);

}  // namespace athanor
