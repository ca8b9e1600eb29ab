#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/json/object_reader.hpp"

namespace athanor {

/// Which endpoints the jobs of a collective get.
enum class JobPlacement : std::uint8_t {
  blocks,       ///< job j those from j * ranks on
  interleaved,  ///< job j every so manieth, from j on: as many as there are jobs
};

/// Several jobs that do the same collective at the same time.
struct JobsText {
  std::uint32_t jobs = 1;
  JobPlacement placement = JobPlacement::blocks;
};

/// The keys "jobs" and "placement" of a collective; nothing where there is no "jobs".
void read_jobs(ObjectReader& reader, std::optional<JobsText>& jobs);

/// The endpoints of one of the jobs, by rank.
std::vector<std::uint32_t> endpoints_of_job(const JobsText& jobs, std::uint32_t job, std::uint32_t ranks);

struct Case;

/// What jobs do not go together with, and whether there are endpoints for all of them.
void check_jobs(ObjectReader& reader, const Case& scenario_case);

}  // namespace athanor
