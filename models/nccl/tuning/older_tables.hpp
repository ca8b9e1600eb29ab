#pragma once

#include <array>

#include "models/nccl/tuning/tables.hpp"

namespace athanor {

/// Of NCCL before 2.18, from old to new, which differ from those of 2.18.
std::array<NcclTuningTables, 5> older_nccl_tables(const NcclTuningTables& of_2_18);

}  // namespace athanor
