#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/config/fields.hpp"
#include "sim/config/json_value.hpp"
#include "sim/format.hpp"
#include "tools/calibrate/search.hpp"

// What the profiles of all backends hold of their calibration.
namespace athanor {

struct Profile;

/// A profile's file: the profile, and how it was found.
JsonValue profile_json(const Profile& profile, JsonValue calibration);
/// Under "fit" and "hold_out": how far the simulated times are from the measured ones.
JsonValue error_json(const std::vector<TimedProbe>& probes, Probe::Purpose purpose);
/// "median 3.1 %, worst 12.0 %" of those that were held out, for a profile's description.
std::string hold_out_text(const std::vector<TimedProbe>& probes);
/// Under "probes": every probe with its measured and simulated time.
JsonValue probes_json(const std::vector<TimedProbe>& probes);

/// One of "probes", as far as a fit needs it.
struct ProbeTime {
  std::string name;
  Time measured;
};
/// Reads "probes", and declares "fit" and "hold_out".
void read_probes(Fields& fields, std::vector<ProbeTime>& times);

/// Those of today's probes that there are times of; what the catalog has lost is left out.
std::vector<TimedProbe> matched(std::vector<Probe> today, const std::vector<ProbeTime>& times);

/// Reads a profile of which only what a fit needs counts: the machine, the ranks, and what `read_calibration` declares.
/// Throws FileError, or ScenarioError where the file is no such profile. `timed` is called with what was read and must
/// return the probes to fit; ("no-probes") where there are none.
struct CalibratedDomain {
  std::string machine;
  std::vector<std::uint32_t> ranks;
};
std::vector<TimedProbe> read_calibrated(const std::string& path, CalibratedDomain& domain,
                                        const std::function<void(Fields&)>& read_calibration,
                                        const std::function<std::vector<TimedProbe>()>& timed);

}  // namespace athanor
