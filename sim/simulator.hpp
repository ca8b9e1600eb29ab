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

  /// Calls the actor's on_settle once before time advances; asking again meanwhile changes nothing. Who asked first
  /// settles first; whatever that causes at this instant happens before the next one settles.
  void settle(ActorId actor);

  /// Nobody else waits to settle: within on_settle, the instant is over.
  bool settled() const { return next_unsettled_ == unsettled_.size(); }

  /// Runs until nothing is left to happen.
  void run();

  /// Skips a span in which nothing new happens: now and every pending event move `by` later.
  /// Whoever calls it moves the times that actors remember.
  void warp(Time by);

  std::uint64_t events() const { return events_; }

 private:
  void settle_next();

  Time now_;
  EventQueue queue_;
  std::vector<Actor*> actors_;
  std::vector<ActorId> unsettled_;  // a queue: those before next_unsettled_ have settled
  std::size_t next_unsettled_ = 0;
  std::vector<bool> waits_to_settle_;
  std::uint64_t scheduled_ = 0;
  std::uint64_t events_ = 0;
};

}  // namespace athanor
