#pragma once

#include <cstdint>
#include <vector>

#include "models/jobs/job.hpp"
#include "models/jobs/random_span.hpp"

namespace athanor {

/// Jobs that are alike but for how long they run.
struct JobClass {
  Job like;             ///< all but when it is submitted, its duration and what is expected of it
  double share = 1;     ///< of all jobs, beside the shares of the other classes
  RandomSpan duration;  ///< at least a microsecond
  double estimate = 1;  ///< what is expected of a duration, as a multiple of it
};

/// Jobs that are drawn.
struct ArrivalRules {
  std::uint64_t jobs = 0;  ///< so many
  RandomSpan between;      ///< one submission and the next
  double daily = 0;        ///< from 0 to 1: the rate is (1 + daily sin(2 pi t / day)) times its mean; exponential alone
  std::vector<JobClass> classes;  ///< at least one; shapes of the list that draws go to
};

/// Adds the jobs to the list, in the order of submission. What is drawn depends on the seed alone. Requires a list
/// without jobs.
void draw_arrivals(const ArrivalRules& rules, std::uint64_t seed, JobList& list);

}  // namespace athanor
