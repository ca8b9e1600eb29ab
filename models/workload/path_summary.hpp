#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/workload/workload_result.hpp"

namespace athanor {

/// What the time of transfers went to.
struct TransferTime {
  Time bandwidth;  ///< the links that they keep busy longest carried their bytes at full rate
  Time latency;    ///< the same calls alone, but no link was busy all the time: latency, software, filling of pipelines
  Time sharing;    ///< more than alone: others were on the same links

  Time total() const { return bandwidth + latency + sharing; }
};

/// Transfers of one use on the critical path that are estimated alike: of one kind and size, done in one way.
struct CallsOnPath {
  Parallelism use = Parallelism::other;
  std::uint32_t label = 0;                            ///< of the first
  std::uint32_t estimate = WorkloadEstimates::kNone;  ///< of the first, into WorkloadResult::estimates
  std::uint64_t count = 0;
  TransferTime time;
};

/// Parts of the critical path that follow each other on one worker.
struct PathStretch {
  std::uint32_t worker = 0;
  Time begin;
  Time end;
  Time computing;
  Time communicating;
};

/// What the critical path consists of: `computing` + `slowed` + `transfers` + `idle` = the workload's time.
struct PathSummary {
  std::vector<Time> computing;  ///< by label, as long as it takes if nothing else runs
  Time slowed;                  ///< of computing: how much longer it took because its worker communicated
  std::array<TransferTime, kParallelisms> transfers{};
  Time idle;                           ///< a stream waited and nothing says for whom
  std::vector<Time> workers;           ///< how long the path was on each
  std::vector<CallsOnPath> calls;      ///< longest first
  std::vector<PathStretch> stretches;  ///< in the order of time
};

/// Requires a result with a critical path.
PathSummary summary_of_path(const WorkloadResult& result);

}  // namespace athanor
