#pragma once

#include <memory>

#include "algorithms/schedule.hpp"

namespace athanor {

/// The same schedule without its post-operation, for a reduction that another reduction follows: an average is to be
/// divided once.
std::unique_ptr<const Schedule> unfinished(std::unique_ptr<const Schedule> schedule);

}  // namespace athanor
