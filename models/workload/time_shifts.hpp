#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "models/workload/side_by_side.hpp"
#include "sim/time.hpp"

namespace athanor {

/// What a job takes of a link in a stretch of each of its steps.
struct LinkArc {
  TimeStretch when;  ///< from the beginning of the step on, while the job runs alone
  double share = 0;  ///< of the link's rate, 0 to 1
};

/// A job that does the same again and again: a circle whose circumference is the time of a step (CASSINI, NSDI 2024,
/// section 3).
struct JobCircle {
  Time period;                                          ///< of a step alone; above zero
  std::map<std::uint32_t, std::vector<LinkArc>> links;  ///< by link
};

/// How steps begin so that they get in each other's way as little as they can.
struct TimeShifts {
  std::vector<Time> shifts;  ///< by job, at least 0 and below its period
  /// By link that could be short for jobs, in ascending order: 1 - the mean of what is wanted of it beyond its rate, as
  /// a share of that rate. 1: nobody has to wait; it may be below 0.
  std::vector<std::pair<std::uint32_t, double>> scores;
  double score = 1;  ///< mean of `scores`
  double rounding =
      0;              ///< by how much of itself a period was rounded at most, for the periods to have a common multiple
  bool exact = true;  ///< no other shifts on this grid are better; else none of one job alone
};

/// Shifts with the best score. Periods are counted in parts of which the shortest has `parts`, fewer where their least
/// common multiple would be too long; what is wanted of a link is averaged over each part, and shifts are whole numbers
/// of them. Jobs that meet on links, directly or over others, are shifted together, the first of them not at all: every
/// combination is tried where these are not too many, else one job after the other is moved as long as that helps.
/// Requires at least 1 part.
TimeShifts compatible_shifts(std::span<const JobCircle> jobs, std::uint32_t parts = 72);

}  // namespace athanor
