#pragma once

#include <cstdint>
#include <stop_token>
#include <utility>
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
  /// All that had to happen at the present instant has happened; asked for by Simulator::at_end_of_instant. May cause
  /// further events at this same instant, which then happen before time advances (and may ask again).
  virtual void on_end_of_instant() {}
};

using ActorId = Id<struct ActorTag>;

/// The event core: a clock and what is still to happen. Events of one time happen in the order in which they were
/// scheduled. No globals: any number of simulators live side by side, each used by one thread.
class Simulator {
 public:
  /// `stop`: whoever holds its source may end run().
  explicit Simulator(std::stop_token stop = {}) : stop_(std::move(stop)) {}

  Time now() const { return now_; }

  /// At most 255 actors. The simulator borrows the actor.
  ActorId add(Actor& actor);

  /// Requires when >= now().
  void at(Time when, ActorId actor, std::uint64_t what);

  /// Behind all events of the same time that were given to at(), whenever those were scheduled; among themselves the
  /// lower `rank` first, of equal ones the lower actor. So their order depends on nothing but what they are.
  /// Requires when >= now() and rank < kRanks.
  void at_rank(Time when, ActorId actor, std::uint64_t what, std::uint64_t rank);
  static constexpr std::uint64_t kRanks = std::uint64_t{1} << 55U;

  /// When the next event is due; Time::max(): there is none.
  Time next() const { return queue_.empty() ? Time::max() : queue_.top().when; }

  /// Calls the actor's on_end_of_instant once before time advances; asking again meanwhile changes nothing. Who asked
  /// first is called first; whatever that causes at this instant happens before the next one is called.
  void at_end_of_instant(ActorId actor);

  /// Nobody else has asked for the end of this instant: within on_end_of_instant, it is over.
  bool instant_is_over() const { return next_asking_ == asking_.size(); }

  /// Runs until nothing is left to happen. Throws Interrupted before the first instant that a stop was asked for.
  void run() { run_until(Time::max()); }
  /// The same, but for what would happen after `last`. Whether nothing is left to happen.
  bool run_until(Time last);

  /// Skips a span in which nothing new happens: now and every pending event move `by` later.
  /// Whoever calls it moves the times that actors remember.
  void fast_forward(Time by);

  std::uint64_t events() const { return events_; }

 private:
  void end_instant_of_next();

  Time now_;
  EventQueue queue_;
  std::vector<Actor*> actors_;
  std::vector<ActorId> asking_;  // a queue: those before next_asking_ have been called
  std::size_t next_asking_ = 0;
  std::vector<bool> asked_;
  std::uint64_t scheduled_ = 0;
  std::uint64_t events_ = 0;
  std::stop_token stop_;
};

}  // namespace athanor
