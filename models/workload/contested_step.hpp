#pragma once

#include <cstdint>
#include <vector>

#include "models/workload/accounts.hpp"
#include "models/workload/call_estimate.hpp"
#include "models/workload/workload.hpp"
#include "sim/time.hpp"

namespace athanor {

/// What is left of a workload when all but some of its transfers take as long as they took in a run of it: these
/// transfers, and how long after the ends of which others each of them can begin. Nothing takes less time than in that
/// run. An operation that waited for its stream waits for the same one before it.
struct ContestedStep {
  /// Whatever waits for it begins `lag` after its end at the earliest.
  struct Successor {
    std::uint32_t transfer = 0;  ///< transfers.size(): the end of the whole
    Time lag;
  };
  struct Transfer {
    std::uint32_t estimate = 0;   ///< into WorkloadEstimates::estimates
    std::uint32_t waits_for = 0;  ///< others, the beginning of the whole among them
    std::vector<Successor> successors;
  };

  std::vector<Transfer> transfers;  ///< each behind those that it waits for
  std::vector<Successor> first;     ///< of the beginning
  std::uint32_t end_waits_for = 0;
};

/// `records`: of a run of the workload. `contested`: by estimate.
ContestedStep contested_step(const Workload& workload, const WorkloadEstimates& estimates, const Records& records,
                             const std::vector<bool>& contested);

}  // namespace athanor
