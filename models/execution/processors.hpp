#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "models/shared_memory/primitive_work.hpp"
#include "sim/simulator.hpp"

namespace athanor {

/// What processors do with lanes; told apart so that neither needs to know the other whole.
class LaneRunner {
 public:
  virtual ~LaneRunner() = default;
  /// Could the lane's present primitive begin?
  virtual bool startable(std::uint32_t lane) const = 0;
  virtual bool ended(std::uint32_t lane) const = 0;
  /// Begins it at this instant.
  virtual void begin_soon(std::uint32_t lane) = 0;
};

/// Processors that share the lanes of a schedule as the workers of the threads executor do: a lane that may have become
/// able to go on queues at its processor, first in, first out; the processor takes it up, carries out primitives as
/// long as one follows on the other, and turns to the next lane. An idle processor falls asleep after a while.
class Processors : public Actor {
 public:
  /// Borrows all of them. `work` knows on which processor a lane runs.
  Processors(Simulator& simulator, const ThreadCosts& costs, PrimitiveWork& work, std::uint32_t processors);

  void serve(LaneRunner& runner) { runner_ = &runner; }
  /// All lanes queue, in their order.
  void launch();
  /// Something that the lane may wait for has happened at a lane of the same processor, or of another one.
  void wake(std::uint32_t lane, std::uint32_t by);
  /// The lane has ended a primitive and loaded the next, or ended.
  void released(std::uint32_t lane);
  Time work(std::uint32_t lane, std::uint64_t index) { return work_.of(lane, index); }
  /// Until the second lane can know what the first one has done.
  Time notice(std::uint32_t lane, std::uint32_t other) const {
    return work_.processor(lane) == work_.processor(other) ? Time::zero() : costs_.notice;
  }

  void on_event(std::uint64_t what) override;

 private:
  enum class Kind : std::uint32_t { notice, awake, turn };
  enum class Activity : std::uint8_t { blocked, queued, running };
  struct Lane {
    Activity activity = Activity::blocked;
    bool known = false;  ///< has had its first turn
  };
  struct Processor {
    std::deque<std::uint32_t> queue;
    bool busy = false;
    Time idle_since;
  };

  void at(Time when, Kind kind, std::uint32_t index);
  void enqueue(std::uint32_t lane);
  void take_next(std::uint32_t processor);
  void take_up(std::uint32_t lane);

  Simulator& simulator_;
  const ThreadCosts& costs_;
  PrimitiveWork& work_;
  ActorId id_;
  LaneRunner* runner_ = nullptr;
  std::vector<Lane> lanes_;
  std::vector<Processor> processors_;
};

}  // namespace athanor
