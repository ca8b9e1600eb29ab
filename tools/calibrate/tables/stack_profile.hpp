#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/config/json_value.hpp"
#include "tools/calibrate/tables/fit_stack.hpp"

namespace athanor {

/// What stands around the costs in the profile of a stack.
struct StackNote {
  std::string name;
  std::string description;
  std::string source;
  std::string date;
  std::string versions;
};

/// A profile as scenarios read it: costs, the domain of its tables, and under "calibration" what was free and how far
/// each table is off, fitted and held out.
JsonValue stack_profile(const StackFit& fit, const Tables& tables, const HoldOuts& hold_outs, const StackNote& note);

}  // namespace athanor
