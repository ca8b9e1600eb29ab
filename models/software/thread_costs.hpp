#pragma once

#include <vector>

#include "sim/units.hpp"

namespace athanor {

/// One level of a processor's caches.
struct CacheLevel {
  Bytes size;
  Bandwidth rate;         ///< at which a processor takes bytes from it, or puts bytes where it keeps their lines
  bool shared = false;    ///< by all processors; else each has its own
  Bandwidth remote_rate;  ///< of bytes that another processor has written and still keeps at this level; private only
};

/// What it costs the threads executor to carry out a schedule on one machine.
struct ThreadCosts {
  Time start;        ///< once per run, on every processor
  Time meeting;      ///< more of it where several processors start together
  Time lane;         ///< once per lane and run: what the lane remembers is not in the cache yet
  Time dispatch;     ///< of taking up a lane, whether or not it can go on
  Time primitive;    ///< of every primitive, beside its bytes
  Time port;         ///< more for every message to or from a lane of the same processor
  Time remote_port;  ///< more for every message to or from a lane of another processor
  Time poll_delay;   ///< until an idle processor finds what another one has left for it
  Time spin_time;    ///< an idle processor falls asleep after so long
  Time wake;         ///< more than `poll_delay`, until a sleeping processor is at work
  /// From the nearest to the farthest; private ones first.
  std::vector<CacheLevel> caches;
  Bandwidth memory_rate = Bandwidth::max();  ///< beyond the last cache
  Time remote_latency;                       ///< of the first line of a range that another processor holds
};

}  // namespace athanor
