#pragma once

#include <optional>
#include <string>

#include "models/execution/run.hpp"
#include "models/mpi/choice.hpp"
#include "models/mpi/library.hpp"

namespace athanor {

/// "open-mpi 4.1".
std::string name_of(const MpiLibrary& library);

/// That it chooses, and what is assumed with that.
std::string mpi_text(const MpiLibrary& library);

/// What the library takes for a request of at least two ranks.
MpiChoice mpi_choice(const MpiLibrary& library, const RunRequest& request);

/// Leaves the request the one algorithm that the library takes, cut as it cuts it; none where the catalog has it not.
/// One rank alone is left as it is.
void follow_mpi(const MpiLibrary& library, RunRequest& request);

/// Why the library's choice cannot be run, in words for the user; none: it can.
std::optional<std::string> why_not_mpis(const MpiLibrary& library, const RunRequest& request);

/// "open-mpi 4.1 takes rabenseifner, here halving_doubling"; "" where both have one name.
std::string mpi_note(const MpiLibrary& library, const RunRequest& request);

}  // namespace athanor
