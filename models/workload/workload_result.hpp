#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "models/network/link_use.hpp"
#include "models/workload/call_estimate.hpp"
#include "models/workload/workload.hpp"
#include "sim/time.hpp"

namespace athanor {

/// A time for each use of communication, by Parallelism.
using TimeByUse = std::array<Time, kParallelisms>;

/// What became of the time of one worker: `computing` + `exposed` + `waiting` = the workload's time.
struct WorkerTime {
  std::uint32_t ranks = 1;    ///< for how many it stands
  Time computing;             ///< some computation ran
  TimeByUse exposed{};        ///< none ran, because the next one waited for a transfer that was under way
  Time waiting;               ///< none ran, because others had not come so far: pipeline bubbles, stragglers
  TimeByUse communicating{};  ///< transfers were under way, hidden or not; of each use those of one time count once
  std::vector<Time> labels;   ///< of computing, by label; sums, so that what ran side by side counts twice
};

/// How often a kind of call ran, and how long.
struct CallTime {
  std::uint32_t estimate = 0;  ///< into WorkloadResult::estimates
  Parallelism use = Parallelism::other;
  std::uint64_t count = 0;  ///< of all workers together, each call once
  Time time;                ///< of all of them
};

/// A stretch of the longest chain of operations that waited for each other.
struct CriticalPart {
  enum class Kind : std::uint8_t { compute, transfer, idle };
  Kind kind = Kind::compute;
  std::uint32_t worker = 0;
  std::uint32_t label = 0;               ///< of the operation
  Parallelism use = Parallelism::other;  ///< of a transfer
  std::uint32_t estimate = UINT32_MAX;   ///< of a transfer: into WorkloadResult::estimates; UINT32_MAX: none
  Time begin;
  Time end;
  Time alone;  ///< what the operation takes if nothing else runs
};

struct WorkloadResult {
  Time time;
  std::vector<WorkerTime> workers;
  std::vector<CallTime> calls;
  std::vector<CriticalPart> critical;   ///< from the first to the last, each where the one before it ends
  std::vector<CallEstimate> estimates;  ///< of calls and messages
  std::vector<std::string> names;       ///< of workers
  std::vector<std::string> labels;      ///< of operations
  std::uint64_t operations = 0;
  std::uint64_t events = 0;
};

/// Parts of a time, averaged over ranks.
struct WorkloadShares {
  double computing = 0;
  double waiting = 0;
  std::array<double, kParallelisms> exposed{};

  double all_exposed() const;
};

/// `whole`: what they are shares of; at least the workload's time where more comes behind it. All 0 where it is 0.
WorkloadShares shares_of(const WorkloadResult& result, Time whole);

/// Transfers of one use on the critical path that are estimated alike: of one kind and size, done in one way.
struct CallsOnPath {
  Parallelism use = Parallelism::other;
  std::uint32_t label = 0;                            ///< of the first
  std::uint32_t estimate = WorkloadEstimates::kNone;  ///< of the first, into WorkloadResult::estimates
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
