#pragma once

#include <cstdint>
#include <vector>

#include "models/workload/collective_matcher.hpp"
#include "models/workload/workload.hpp"
#include "models/workload/workload_result.hpp"
#include "sim/timeline.hpp"

namespace athanor {

/// When one operation could run, ran and ended, and why not earlier.
struct OperationRecord {
  static constexpr std::uint32_t kNone = UINT32_MAX;
  Time begin;  ///< the last of those before it had ended
  Time start;  ///< all who take part had come
  Time end;
  std::uint32_t cause = kNone;     ///< of the same worker, what ended last before it; none: it could begin at once
  OperationId last{kNone, kNone};  ///< of a call or message: who came last
  std::uint32_t transfer = kNone;  ///< of a call or message: its number; all who take part have the same
};

using Records = std::vector<std::vector<OperationRecord>>;  ///< by worker and operation

/// Splits the time of each worker, from records of a workload that has ended at `time`. Of WorkerTime all but
/// `communicating`.
std::vector<WorkerTime> split_time(const Workload& workload, const Records& records, Time time);

/// The longest chain of operations that waited for each other: from time 0 to the end, without a gap.
std::vector<CriticalPart> critical_path(const Workload& workload, const WorkloadEstimates& estimates,
                                        const Records& records);

/// Draws workers as processes and their streams as tracks, each operation as a span.
class WorkloadTimeline {
 public:
  /// Borrows both. `most`: the first so many workers are drawn.
  WorkloadTimeline(Timeline& timeline, const Workload& workload, std::uint32_t most);

  /// Of an operation that has ended. Of a transfer, what it waited for others is a span of its own.
  void draw(OperationId who, const OperationRecord& record, const Workload::Operation& operation);

 private:
  Timeline& timeline_;
  const Workload& workload_;
  std::vector<std::vector<Track>> tracks_;  ///< by worker and stream
};

}  // namespace athanor
