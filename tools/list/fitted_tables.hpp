#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "models/experiments/scenario/scenario.hpp"
#include "models/software/profile.hpp"

namespace athanor {

/// What a profile's tables say of what they were measured on.
struct FittedTables {
  std::vector<std::string> hardware;  ///< "2 x 8 A100 SXM4 (DGX A100)", each once; so, too, what follows
  std::vector<std::string> software;  ///< "NCCL 2.26.2", "NCCL unknown (2022-era)"
  std::size_t rows = 0;               ///< times within the profile's domain
};

/// Of those tables of the domain that the library has; problems with them are added to `problems`.
FittedTables fitted_tables(const Profile::Domain& fitted, const Library& library, Problems& problems);

}  // namespace athanor
