#pragma once

#include <optional>
#include <string>

#include "models/experiments/verification.hpp"
#include "models/library/library.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

struct Cluster;

/// The "verify" of a scenario. `files`: relative paths start in the folder of the scenario. `problems` takes what is
/// wrong with the measurement's own file.
void visit(Fields& fields, const FileReader& files, const Library& library, Problems& problems,
           std::optional<Verification>& verification);

struct CollectiveSetup;

/// Reports to `fields`, which holds "verify", what makes the setup's measurement another thing than it simulates.
void check_verification(Fields& fields, const Cluster& cluster, const CollectiveSetup& setup);

}  // namespace athanor
