#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/json/object_reader.hpp"
#include "tools/scenario/algorithm_choice.hpp"
#include "tools/scenario/nccl_section.hpp"

namespace athanor {

struct CollectiveContext;

/// Which endpoints the jobs of a collective get.
enum class JobPlacement : std::uint8_t {
  blocks,       ///< job j those from j * ranks on
  interleaved,  ///< job j every so manieth, from j on: as many as there are jobs
};

/// What one of several jobs has of its own; what it has not is as the collective and the scenario say.
struct JobText {
  std::optional<CollectiveKind> kind;
  std::optional<Bytes> size;  ///< of the payload; none: that of the row
  std::optional<AlgorithmChoice> choice;
  std::optional<NcclSection> nccl;
};

/// Several jobs that run at the same time.
struct JobsText {
  std::uint32_t jobs = 1;
  JobPlacement placement = JobPlacement::blocks;
  std::vector<JobText> own;  ///< of each job; empty: all do the same
  /// NCCL on the endpoints of each job; empty where the profile has no "nccl". Not read, but resolved.
  std::vector<std::shared_ptr<const NcclRuntime>> nccl;
};

/// The keys "jobs" and "placement" of a collective of that kind; nothing where there is no "jobs".
void read_jobs(ObjectReader& reader, const CollectiveContext& context, std::optional<CollectiveKind> kind,
               std::optional<JobsText>& jobs);

/// The endpoints of one of the jobs, by rank.
std::vector<std::uint32_t> endpoints_of_job(const JobsText& jobs, std::uint32_t job, std::uint32_t ranks);

struct Case;

/// What jobs do not go together with, and whether there are endpoints for all of them.
void check_jobs(ObjectReader& reader, const Case& scenario_case);

/// One of the jobs of a case as a case of its own, on a cluster that has its endpoints alone and is idle. Requires that
/// the case has that job.
Case case_of_job(const Case& scenario_case, std::uint32_t job);

}  // namespace athanor
