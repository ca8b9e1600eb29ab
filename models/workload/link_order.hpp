#pragma once

#include <cstdint>
#include <set>
#include <stop_token>
#include <vector>

#include "models/workload/side_by_side.hpp"

namespace athanor {

/// A job of which is to be said whether it gets links before others.
struct OrderedJob {
  RepeatedStep step;
  double intensity = 0;           ///< computing for each second in which its busiest link is busy
  double traffic = 0;             ///< of a step, over all links: seconds in which they are busy
  std::set<std::uint32_t> links;  ///< that may be short, by any numbers
  double busy = 0;                ///< of a step: seconds in which its busiest link is
};

/// Crux's classes of jobs (SIGCOMM 2024, sections 4.2 and 4.3): the higher gets links first. Jobs are ordered by their
/// intensity times a correction against the job with most traffic, where they meet it: both orders of the two are
/// simulated, and what a job gains by going first, in time of its busiest link, is divided by what the other one gains.
/// Requires a class. Throws Interrupted.
std::vector<std::uint32_t> crux_classes(const std::vector<OrderedJob>& jobs, std::uint32_t classes,
                                        const std::stop_token& stop);

/// The corrections alone; 1 of jobs that do not meet the one with most traffic, or gain nothing by going first, or
/// where it gains nothing.
std::vector<double> crux_corrections(const std::vector<OrderedJob>& jobs, const std::stop_token& stop);

}  // namespace athanor
