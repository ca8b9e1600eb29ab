#pragma once

#include "algorithms/catalog.hpp"
#include "algorithms/schedule/schedule.hpp"

namespace athanor {

/// What a schedule costs, counted by carrying it out primitive by primitive with slots without end: a primitive that
/// sends takes one unit of time, every other none. Requires a schedule that ends.
Cost counted(const Schedule& schedule);

}  // namespace athanor
