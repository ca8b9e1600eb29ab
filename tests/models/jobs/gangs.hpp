#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "small_jobs.hpp"

namespace athanor {

/// A job of tests: tasks of so many GPUs, of a queue; seconds.
struct Gang {
  std::int64_t submitted = 0;
  std::int64_t duration = 1;
  std::uint32_t tasks = 1;
  std::uint16_t gpus = 1;
  std::string queue = {};
  std::int32_t priority = 0;
};
JobList list_of(const std::vector<Gang>& gangs);

WallTime started(const JobsRun& run, std::uint32_t job);
WallTime ended(const JobsRun& run, std::uint32_t job);

/// Volcano's key, with the plugins of two tiers.
std::string tiers(const std::string& first, const std::string& second);

}  // namespace athanor
