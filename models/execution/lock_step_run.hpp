#pragma once

#include <optional>
#include <stop_token>

#include "models/execution/unshared_run.hpp"

namespace athanor {

/// run_unshared() of a schedule of one program, in which every lane has one in-port and one out-port: all lanes take
/// their first step, then all take the second, as rings do. Once all times are as they were some steps before, but for
/// a span that is the same for all, steps that are alike are multiplied. Requires what run_unshared() requires of costs
/// and network.
/// Nothing where lanes are otherwise, or where a step hangs on what others do in the same step.
std::optional<UnsharedOutcome> run_in_lock_step(const MappedSchedule& mapped, const Schedule& schedule,
                                                Bytes element_size, std::uint32_t slots, const std::stop_token& stop);

}  // namespace athanor
