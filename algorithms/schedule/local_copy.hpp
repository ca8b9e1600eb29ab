#pragma once

#include <memory>

#include "algorithms/schedule/collective.hpp"
#include "algorithms/schedule/schedule.hpp"

namespace athanor {

/// Any collective of one rank: its input is the output. Requires ranks == 1.
std::unique_ptr<const Schedule> local_copy(const Collective& collective);

}  // namespace athanor
