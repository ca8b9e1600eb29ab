#pragma once

#include <string>
#include <vector>

#include "models/jobs/job.hpp"
#include "models/jobs/node_list.hpp"
#include "models/jobs/profiles/application_profile.hpp"
#include "sim/parse.hpp"
#include "sim/wall_time.hpp"

namespace athanor {

/// An undisturbed run of a job at full speed, which is what its work is counted in: with the batch and the GPUs that it
/// was submitted with, on the fewest nodes.
struct JobCourse {
  const ApplicationProfile* profile = nullptr;
  BatchSplit split;
  std::vector<double> rates;   ///< progress per second in each epoch
  std::vector<WallTime> ends;  ///< of each epoch

  WallTime duration() const { return ends.back(); }
  /// Where so much work has been done; the last epoch, where all of it has.
  std::size_t epoch(WallTime done) const;
};

/// `per_node`: GPUs of a node. Requires what refusal_of() does not refuse.
JobCourse course_of(const ApplicationProfile& profile, std::uint32_t batch, std::uint32_t gpus, std::uint32_t per_node);

/// What a profile cannot say of jobs with such a batch on such nodes; no message: nothing.
Mistake refusal_of(const ApplicationProfile& profile, std::uint32_t batch, std::uint32_t gpus, std::uint32_t per_node);

/// As many as were measured, and as have a local batch each of the largest batch.
std::uint32_t most_gpus_of(const ApplicationProfile& profile);

/// Gives jobs that name an application the durations of their courses; elastic ones get no more GPUs than can be used.
/// What cannot be, each mistake once.
std::vector<Mistake> set_durations(JobList& jobs, const ProfileSet& profiles, const NodeList& nodes);

}  // namespace athanor
