#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tools/calibrate/fit.hpp"

namespace athanor {

/// What stands around the costs in a profile's file.
struct CalibrationNote {
  std::string name;
  std::string machine;  ///< as measurements name it
  std::string date;
  std::string versions;
  std::vector<std::uint32_t> ranks;
};

/// A profile as scenarios read it: costs, the machine, the domain, and how far off held-out rows were.
nlohmann::ordered_json thread_profile(const ThreadCosts& costs, const CalibrationNote& note,
                                      const std::vector<HeldOut>& held_out);

}  // namespace athanor
