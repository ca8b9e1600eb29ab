#pragma once

#include <cstdint>

namespace athanor {

/// Keeps the calling thread, one of `workers`, on the processor of that number among those that this process may use.
/// Does nothing where there are fewer processors than workers, or where the system does not let threads choose.
void pin_worker(std::uint32_t worker, std::uint32_t workers);

}  // namespace athanor
