#pragma once

#include <string>
#include <string_view>

#include "models/library/library.hpp"
#include "models/software/software_pool.hpp"

namespace athanor {

/// The pool that prices stacks nobody has calibrated.
constexpr std::string_view kDefaultPool = "nccl";

/// A pool of the library's, or the file of this name. Throws FileError, ScenarioError.
SoftwarePool read_pool(const Library& library, const std::string& name);

}  // namespace athanor
