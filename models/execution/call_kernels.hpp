#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/execution/ids.hpp"
#include "sim/id_vector.hpp"
#include "sim/time.hpp"

namespace athanor {

struct MappedSchedule;

/// One collective called again and again: a rank's next call begins so long after all its own lanes have ended the one
/// before, whatever other ranks do. Connections keep what they hold, so that calls overlap where a rank has less to do,
/// or is done earlier, than others.
struct CallLoop {
  std::uint32_t calls = 1;  ///< at least 1
  Time gap;                 ///< of a launch
};

/// Which lanes belong to one rank, and so begin their calls together. Lanes of engines belong to none: they serve call
/// after call. In a quotient a kernel stands for ranks that cannot be told apart.
class CallKernels {
 public:
  /// Requires a schedule that was folded for calls (MappedSchedule::in_calls), or not at all. `ranks`: those agents
  /// that are no engines.
  CallKernels(const MappedSchedule& mapped, std::uint32_t ranks);

  IdRange<KernelIndex> ids() const { return kernels_.ids(); }
  std::optional<KernelIndex> of(LaneIndex lane) const { return of_lane_[lane]; }
  const std::vector<LaneIndex>& lanes(KernelIndex kernel) const { return kernels_[kernel].lanes; }
  std::uint32_t members(KernelIndex kernel) const { return kernels_[kernel].members; }

  /// A lane has ended its call. True: so have all of its kernel, which from now on counts those of the next call.
  bool lane_ended(KernelIndex kernel);

  /// When the kernel begins its next call, while it waits for that.
  Time& due(KernelIndex kernel) { return kernels_[kernel].due; }
  Time due(KernelIndex kernel) const { return kernels_[kernel].due; }

 private:
  struct Kernel {
    std::vector<LaneIndex> lanes;  ///< that do something
    std::uint32_t members = 0;     ///< ranks for which it stands
    std::uint32_t ended = 0;       ///< lanes, in the present call
    Time due;
  };
  IdVector<KernelIndex, Kernel> kernels_;
  IdVector<LaneIndex, std::optional<KernelIndex>> of_lane_;
};

}  // namespace athanor
