#pragma once

#include "algorithms/schedule/schedule.hpp"
#include "models/execution/mapped_schedule.hpp"

namespace athanor {

/// A time that no run of the schedule ends before, at little cost beside running it: what a lane with the most
/// primitives needs to send the first of them over links that nobody else uses. Above `enough`, no more is looked for.
/// Zero where each connection has several queue pairs.
Time least_time(const MappedSchedule& mapped, const Schedule& schedule, Bytes element_size, Time enough);

}  // namespace athanor
