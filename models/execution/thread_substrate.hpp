#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "models/execution/mapped_schedule.hpp"
#include "models/execution/substrate.hpp"
#include "models/shared_memory/primitive_work.hpp"
#include "sim/simulator.hpp"

namespace athanor {

/// Processors that share the lanes of a schedule as the workers of the threads executor do: a lane that may have become
/// able to go on queues at its processor, first in, first out; the processor takes it up, carries out primitives as
/// long as one follows on the other, and turns to the next lane. An idle processor falls asleep after a while. A
/// message is in memory as soon as it is sent, and there as soon as its receiver can know of it.
class ThreadSubstrate final : public Substrate, public Actor {
 public:
  /// Borrows all of them. `work` knows on which processor a lane runs, and what the schedule costs there. Requires a
  /// schedule that is not folded: caches remember every lane and loop.
  ThreadSubstrate(Simulator& simulator, const MappedSchedule& mapped, const ThreadCosts& costs, PrimitiveWork& work,
                  std::uint32_t processors);

  void serve(Executor& executor) override { executor_ = &executor; }
  /// All lanes queue, in their order.
  void launched() override;
  void ready(LaneIndex /*lane*/) override {}  // until a processor takes it up
  void wake(LaneIndex lane, LaneIndex by) override;
  void begin(LaneIndex lane) override;
  void released(LaneIndex lane) override { take_up(lane); }

  void on_event(std::uint64_t event) override;

 private:
  enum class Kind : std::uint32_t { notice, awake, turn, send, message };
  enum class Activity : std::uint8_t { blocked, queued, running };
  struct Lane {
    Activity activity = Activity::blocked;
    bool known = false;  ///< has had its first turn
  };
  struct Processor {
    std::deque<LaneIndex> queue;
    bool busy = false;
    Time idle_since;
  };

  Time notice(LaneIndex lane, LaneIndex other) const;
  void at(Time when, Kind kind, std::uint32_t index);
  void enqueue(LaneIndex lane);
  std::uint32_t processor(LaneIndex lane) const { return work_.processor(lane.value); }
  void take_next(std::uint32_t processor);
  void take_up(LaneIndex lane);
  void send(LaneIndex lane);

  Simulator& simulator_;
  const MappedSchedule& mapped_;
  const ThreadCosts& costs_;
  PrimitiveWork& work_;
  ActorId id_;
  Executor* executor_ = nullptr;
  IdVector<LaneIndex, Lane> lanes_;
  std::vector<Processor> processors_;
};

}  // namespace athanor
