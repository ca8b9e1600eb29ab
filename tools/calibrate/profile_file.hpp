#pragma once

#include <string>
#include <vector>

#include "sim/config/json_value.hpp"
#include "tools/calibrate/fit.hpp"

namespace athanor {

/// What stands around the costs in a profile's file.
struct CalibrationNote {
  std::string name;
  std::string machine;  ///< as measurements name it
  std::string date;     ///< of the measurements
  std::string versions;
  std::vector<std::uint32_t> ranks;
  FitSettings fit;  ///< private caches and processors
};

/// A profile as scenarios read it: costs, the machine, the domain, and under "calibration" every probe with its
/// measured and simulated time.
JsonValue thread_profile(const ThreadCosts& costs, const CalibrationNote& note, const std::vector<TimedProbe>& probes);

/// What a profile was fitted on, to fit it again: the probes of today's catalog that it has times of, and its note,
/// but for the name. Throws FileError, or ScenarioError where the file is no such profile or
/// ("no-probes") holds none.
std::vector<TimedProbe> probes_of(const std::string& path, CalibrationNote& note);

}  // namespace athanor
