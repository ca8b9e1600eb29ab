#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "models/execution/candidate.hpp"

namespace athanor {

/// Simulated times of one row's collective, remembered: a search changes few of the figures that a candidate depends
/// on at a time, and launches, which are added to what was simulated, change none.
class RowTimes {
 public:
  /// Of the fastest of the request's candidates. Requires that all requests differ in their profiles alone.
  Time fastest(const RunRequest& request);

 private:
  Time simulated(const RunRequest& request, const Candidate& candidate);

  std::map<std::vector<std::int64_t>, Time> known_;  ///< by algorithm and what its protocol costs
};

}  // namespace athanor
