#pragma once

#include "algorithms/schedule/collective.hpp"
#include "algorithms/schedule/reduction.hpp"
#include "sim/config/limits.hpp"

// The names by which files choose one of an enumeration: limits of its fields.

namespace athanor {

Names<CollectiveKind> collective_names();
Names<DataType> type_names();
Names<Reduction> reduction_names();

}  // namespace athanor
