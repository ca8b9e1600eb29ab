#pragma once

#include <vector>

#include "models/workload/accounts.hpp"
#include "sim/timeline.hpp"

namespace athanor {

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
