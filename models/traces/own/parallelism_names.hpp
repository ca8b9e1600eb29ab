#pragma once

#include "models/workload/workload.hpp"
#include "sim/config/limits.hpp"

namespace athanor {

/// As results and traces name what communication is for.
Names<Parallelism> parallelism_names();

}  // namespace athanor
