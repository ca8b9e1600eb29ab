#pragma once

#include "models/execution/ids.hpp"

namespace athanor {

class Executor;

/// What carries out the primitives of a schedule: devices joined by a network, threads that share processors, or thread
/// blocks that share GPUs. The executor says which primitives could begin; the substrate begins them, prices them and
/// moves their messages, by calls of the executor's.
class Substrate {
 public:
  /// Which calls it needs beside ready() and begin(): the others are spared, since there are several to each message.
  struct Calls {
    bool wake = false;  ///< and released()
    bool ending = false;
  };

  explicit Substrate(Calls calls) : calls_(calls) {}
  virtual ~Substrate() = default;
  const Calls& calls() const { return calls_; }

  /// Before all else; borrows the executor.
  virtual void serve(Executor& executor) = 0;
  /// The lanes of a start have been loaded.
  virtual void launched() {}
  /// All that the lane's present primitive waits for is there.
  virtual void ready(LaneIndex lane) = 0;
  /// At lane `by` something has happened that this lane may wait for.
  virtual void wake(LaneIndex /*lane*/, LaneIndex /*by*/) {}
  /// The lane's primitive begins now. Calls Executor::send() once it sends, and Executor::part_ended() after it has.
  virtual void begin(LaneIndex lane) = 0;
  /// The lane's primitive ends: what it has received is used up.
  virtual void ending(LaneIndex /*lane*/) {}
  /// The lane has loaded its next primitive, or has ended.
  virtual void released(LaneIndex /*lane*/) {}

 private:
  Calls calls_;
};

}  // namespace athanor
