#pragma once

#include <string>

#include "models/library/library.hpp"
#include "models/training/compute_profile.hpp"
#include "sim/config/field_value.hpp"

namespace athanor {

/// A scenario's compute profile: a name of `athanor list compute`, a path from `files` on, or the profile itself.
/// `problems` takes what is wrong with the named file. Throws FileError.
void read_compute_profile(FieldValue& value, const FileReader& files, const Library& library, Problems& problems,
                          ComputeProfile& profile);

/// Reads the profile's own file. Throws FileError.
ComputeProfile read_compute_profile_file(const FileReader& files, const std::string& name, Problems& problems);

/// The rates of a GPU. Throws ScenarioError: "unknown-preset" with the nearest name, "missing-key" where its memory,
/// memory's bandwidth or rates are not known, which training needs.
GpuRates find_gpu_rates(const GpuConfig& gpu, const Library& library);

}  // namespace athanor
