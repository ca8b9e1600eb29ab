#pragma once

#include <cstdint>
#include <span>

#include "models/software/nccl.hpp"

namespace athanor {

/// The rates of one channel that the search tries, in MB/s and descending: inside one node, or `across` several, for
/// the least compute capability (times ten) of the GPUs. As src/graph/search.cc of 2.30 lists them; those that came
/// later than `version` are left out.
std::span<const std::int64_t> search_speeds(std::uint32_t compute_capability, bool across, const NcclVersion& version);

}  // namespace athanor
