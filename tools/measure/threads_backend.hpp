#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "tools/measure/backend.hpp"

namespace athanor {

/// All ranks in this process, their lanes carried out by worker threads (algorithms/execution/threads/threads.hpp). Any
/// number of ranks. `workers`: at least 1; none: one per rank, but not more than processors.
std::unique_ptr<Backend> make_threads_backend(std::optional<std::uint32_t> workers = std::nullopt);

}  // namespace athanor
