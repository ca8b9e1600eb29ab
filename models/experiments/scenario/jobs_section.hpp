#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "models/experiments/jobs.hpp"
#include "models/experiments/scenario/algorithm_choice.hpp"
#include "models/experiments/scenario/nccl_section.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

struct CollectiveContext;

/// What one of several jobs has of its own; what it has not is as the collective and the scenario say.
struct JobConfig {
  std::optional<CollectiveKind> kind;
  std::optional<Bytes> size;  ///< of the payload; none: that of the row
  std::optional<AlgorithmChoice> choice;
  std::optional<NcclSection> nccl;
};

/// Several jobs that run at the same time.
struct JobsConfig {
  std::uint32_t jobs = 1;
  JobPlacement placement = JobPlacement::blocks;
  std::vector<JobConfig> own;  ///< of each job; empty: all do the same

  /// Whether some job is told something else of NCCL than the others.
  bool has_own_nccl() const;
};

/// The keys "jobs" and "placement" of a collective of that kind; nothing where there is no "jobs".
void read_jobs(Fields& fields, const CollectiveContext& context, std::optional<CollectiveKind> kind,
               std::optional<JobsConfig>& jobs);

struct CaseParts;

/// What jobs do not go together with, and whether there are endpoints for all of them.
void check_jobs(const CaseParts& parts, const JobsConfig& config, const JobsSetup& setup);

}  // namespace athanor
