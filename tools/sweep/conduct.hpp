#pragma once

#include <cstdint>

#include "tools/sweep/database.hpp"
#include "tools/sweep/points.hpp"
#include "tools/sweep/workers.hpp"

namespace athanor {

/// How a sweep went.
struct SweepCount {
  std::uint64_t points = 0;  ///< of the whole sweep
  std::uint64_t before = 0;  ///< that the file had already
  std::uint64_t simulated = 0;
  std::uint64_t failed = 0;  ///< points that were simulated and failed
  bool interrupted = false;
  std::string first_error;  ///< message of the first point that failed
};

/// Simulates the points that the file does not have, in this process and in others, and writes each into it as soon as
/// it is there. Requires a process that leads.
SweepCount conduct(const SweepOrder& order, std::uint32_t threads, SweepWorkers& workers, SweepDatabase& database,
                   const Streams& streams);

}  // namespace athanor
