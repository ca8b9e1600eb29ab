#pragma once

#include <string>

#include "models/library/library.hpp"
#include "models/training/compute_profile.hpp"

namespace athanor {

/// A name of the library, or else a file. Throws FileError, ScenarioError.
ComputeProfile named_compute_profile(const Library& library, const std::string& name);

/// More digits than a fit finds are not written.
ComputeProfile in_four_digits(ComputeProfile profile);

}  // namespace athanor
