#pragma once

#include <optional>
#include <string>

#include "sim/json/object_reader.hpp"
#include "tools/scenario/library.hpp"
#include "tools/scenario/scenario.hpp"

namespace athanor {

/// The "verify" of a scenario. `directory`: of the scenario file, where relative paths start. `problems` takes what is
/// wrong with the measurement's own file.
void read(ObjectReader& reader, const std::string& directory, const Library& library, Problems& problems,
          std::optional<Verification>& verification);

/// Reports to `reader`, which holds "verify", what makes the measurement another thing than the case simulates.
void check_verification(ObjectReader& reader, const Case& scenario_case);

}  // namespace athanor
