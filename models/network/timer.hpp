#pragma once

#include <cstdint>
#include <vector>

#include "sim/simulator.hpp"

namespace athanor {

/// Wakes one actor at the earliest time asked for, with as few events as that takes: times later than a pending one
/// are not scheduled; the actor asks again when it has been woken.
class Timer {
 public:
  Timer(Simulator& simulator, ActorId actor, std::uint64_t what) : simulator_(&simulator), actor_(actor), what_(what) {}

  /// The actor is to be woken at `when` or earlier. Requires when >= now.
  void set(Time when) {
    if (!pending_.empty() && pending_.back() <= when) { return; }
    pending_.push_back(when);
    simulator_->at(when, actor_, what_);
  }

  /// To be called at each event that the alarm caused.
  void rang() { pending_.pop_back(); }

  /// The simulator skips `by`.
  void fast_forward(Time by) {
    for (Time& when : pending_) { when += by; }
  }

 private:
  Simulator* simulator_;
  ActorId actor_;
  std::uint64_t what_;
  std::vector<Time> pending_;  ///< falling: the earliest is last
};

}  // namespace athanor
