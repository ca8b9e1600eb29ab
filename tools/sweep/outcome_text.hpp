#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/sweep/database.hpp"

namespace athanor {

/// Outcomes as one process sends them to another.
std::string pack(const std::vector<SweepOutcome>& outcomes);
/// Requires what pack() returned.
std::vector<SweepOutcome> unpack(std::string_view text);

}  // namespace athanor
