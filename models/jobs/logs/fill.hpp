#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/jobs/job.hpp"
#include "sim/ratio.hpp"

namespace athanor {

struct JobsRun;

/// How full a cluster gets: the jobs of a list come one a second in random order, and after them jobs drawn from the
/// list, until one more would ask for more than so many times all GPUs. All stay until the last has come.
struct Fill {
  Ratio demand{13, 10};    ///< of the GPUs of the cluster
  std::uint64_t seed = 1;  ///< of order and draws
};

/// `gpus`: of the cluster. Jobs are put in the order of their names before they are shuffled, so that the list's own
/// order is of no account; jobs of the list that would go beyond the demand are left out. Requires a job that wants
/// GPUs, and demand > 0.
JobList filled(const JobList& list, std::uint32_t gpus, const Fill& fill);

/// The share of the GPUs of a cluster that jobs have which come one after the other and stay, when what all that have
/// come ask for reaches each of these multiples of its GPUs; after the last job, where it reaches it no more.
std::vector<double> allocated_at(std::span<const double> demands, const JobList& jobs, const JobsRun& run,
                                 std::uint32_t gpus);

}  // namespace athanor
