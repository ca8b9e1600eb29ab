#pragma once

#include <string>
#include <vector>

#include "sim/config/json_value.hpp"
#include "sim/time.hpp"

namespace athanor {

/// What something else about a machine or a plan would bring, found by simulating that.
struct ExplainedChange {
  std::string change;  ///< "network links twice as fast"
  Time time;
  std::string note;  ///< what speaks against it; "": nothing
};

/// Shortest time first, under the title "what would help"; nothing where nothing was tried. `now`: the time without.
std::string change_lines(const std::vector<ExplainedChange>& changes, Time now);

/// [{"change", "time_us", "gain", "note"}]; gain is the part of the time that is saved, negative where it is lost.
JsonValue changes_json(const std::vector<ExplainedChange>& changes, Time now);

}  // namespace athanor
