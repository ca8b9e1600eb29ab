#pragma once

#include <cstdint>

#include "sim/time.hpp"

namespace athanor {

/// What happened at the switches, of all of them together.
struct SwitchCounters {
  std::uint64_t forwarded = 0;
  std::uint64_t dropped = 0;
  std::uint64_t trimmed = 0;
  std::uint64_t marked = 0;
  std::uint64_t pauses = 0;        ///< frames that told a port to stop
  std::int64_t longest_queue = 0;  ///< bytes that a packet found before it

  /// And what happened at others.
  void add(const SwitchCounters& other) {
    forwarded += other.forwarded;
    dropped += other.dropped;
    trimmed += other.trimmed;
    marked += other.marked;
    pauses += other.pauses;
    longest_queue = longest_queue > other.longest_queue ? longest_queue : other.longest_queue;
  }
};

/// What hosts sent, all of them together.
struct HostCounters {
  std::uint64_t data = 0;      ///< data packets sent, repeated ones too
  std::uint64_t repeated = 0;  ///< data packets that had been sent before
  std::uint64_t replies = 0;   ///< acknowledgements and notices
  std::uint64_t notices = 0;   ///< congestion notices
  std::uint64_t pulls = 0;     ///< packets that receivers asked for
  std::uint64_t timeouts = 0;

  /// And what others sent.
  void add(const HostCounters& other) {
    data += other.data;
    repeated += other.repeated;
    replies += other.replies;
    notices += other.notices;
    pulls += other.pulls;
    timeouts += other.timeouts;
  }
};

/// What was not simulated packet by packet (FastForward).
struct SkipCounters {
  std::uint64_t packets = 0;  ///< data packets that were skipped
  std::uint64_t skips = 0;
  std::uint64_t remembered = 0;  ///< times that a pattern of flows was recognised
  Time skipped;                  ///< over all flows
  Time active;                   ///< in which flows had something to send or to be acknowledged, over all of them
  std::uint64_t checks = 0;      ///< skips whose rates were held against what followed
  std::uint64_t checked = 0;     ///< rates that were
  double error = 0;              ///< sum over these: how far they were from what followed, as shares of it
  double worst_error = 0;

  double mean_error() const { return checked == 0 ? 0 : error / static_cast<double>(checked); }
  double share() const { return active == Time::zero() ? 0 : seconds(skipped) / seconds(active); }
};

/// What happened at the port at the source of one link. Queues are those that packets of any kind find on arrival, with
/// what is being sent; a host's own packets wait in its senders instead.
struct PortCounters {
  std::int64_t replies = 0;        ///< bytes on the wire of what is no data packet
  std::uint64_t arrivals = 0;      ///< packets that came to the port, those that found no room too
  std::int64_t queue_sum = 0;      ///< bytes, over all arrivals
  std::int64_t longest_queue = 0;  ///< bytes
  std::uint64_t marked = 0;
  std::uint64_t dropped = 0;
  std::uint64_t trimmed = 0;
  std::uint64_t repeated = 0;  ///< data packets that a host sent not for the first time
  std::uint64_t pauses = 0;    ///< how often its far end told it to stop, whichever class
  Time paused;                 ///< in which at least one class was stopped
  Time paused_since;           ///< where one is
  std::uint32_t stopped = 0;   ///< a bit for each class that is

  void arrived(std::int64_t queue) {
    ++arrivals;
    queue_sum += queue;
    longest_queue = queue > longest_queue ? queue : longest_queue;
  }
  /// Requires that `when` never falls.
  void told(std::uint8_t service, bool stop, Time when) {
    const std::uint32_t before = stopped;
    stopped = stop ? stopped | 1U << service : stopped & ~(1U << service);
    pauses += stop ? 1 : 0;
    if (before == 0 && stopped != 0) { paused_since = when; }
    if (before != 0 && stopped == 0) { paused += when - paused_since; }
  }
};

}  // namespace athanor
