#pragma once

#include <vector>

#include "models/execution/execution_observer.hpp"
#include "sim/timeline.hpp"

namespace athanor {

/// Draws every primitive that an executor simulates: a process per agent, a track per lane. Where lanes are folded, the
/// lane drawn stands for its class and says for how many.
class TimelineRecorder final : public ExecutionObserver {
 public:
  /// `offset`: what happens before the executor's time zero; drawn as the launch.
  TimelineRecorder(Timeline& timeline, Time offset) : timeline_(timeline), offset_(offset) {}

  void begins(const MappedSchedule& mapped, const Schedule& schedule) override;
  void primitive_ended(const EndedPrimitive& primitive) override;

 private:
  Timeline& timeline_;
  Time offset_;
  IdVector<LaneIndex, Track> tracks_;
};

}  // namespace athanor
