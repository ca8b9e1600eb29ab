#pragma once

#include <cstdint>
#include <vector>

#include "sim/event_queue.hpp"
#include "sim/ids.hpp"
#include "sim/time.hpp"

namespace athanor {

/// What events happen to. Must outlive the Simulator's run.
class Actor {
 public:
  virtual ~Actor() = default;
  /// `what` is the value given to Simulator::at.
  virtual void on_event(std::uint64_t what) = 0;
  /// All that had to happen at the present instant has happened; asked for by Simulator::settle. May cause
  /// further events at this same instant, which then happen before time advances (and may ask to settle again).
  virtual void on_settle() {}
};

using ActorId = Id<struct ActorTag>;

/// The event core: a clock and what is still to happen. Events of one time happen in the order in which they were
/// scheduled. No globals: any number of simulators live side by side, each used by one thread.
class Simulator {
 public:
  Time now() const { return now_; }

  /// At most 255 actors. The simulator borrows the actor.
  ActorId add(Actor& actor);

  /// Requires when >= now().
  void at(Time when, ActorId actor, std::uint64_t what);

  /// Calls the actor's on_settle once before time advances; asking again meanwhile changes nothing.
  void settle(ActorId actor);

  /// Runs until nothing is left to happen.
  void run();

  /// Skips a span in which nothing new happens: now and every pending event move `by` later.
  /// Whoever calls it moves the times that actors remember.
  void warp(Time by);

  std::uint64_t events() const { return events_; }

 private:
  void settle_all();

  Time now_;
  EventQueue queue_;
  std::vector<Actor*> actors_;
  std::vector<ActorId> unsettled_;
  std::vector<bool> waits_to_settle_;
  std::uint64_t scheduled_ = 0;
  std::uint64_t events_ = 0;
};

}  // namespace athanor
