#pragma once

#include <cstdint>

namespace athanor {

/// What happened at the switches, of all of them together.
struct SwitchCounters {
  std::uint64_t forwarded = 0;
  std::uint64_t dropped = 0;
  std::uint64_t trimmed = 0;
  std::uint64_t marked = 0;
  std::uint64_t pauses = 0;        ///< frames that told a port to stop
  std::int64_t longest_queue = 0;  ///< bytes that a packet found before it
};

/// What hosts sent, all of them together.
struct HostCounters {
  std::uint64_t data = 0;      ///< data packets sent, repeated ones too
  std::uint64_t repeated = 0;  ///< of those, sent before
  std::uint64_t replies = 0;   ///< acknowledgements and notices
  std::uint64_t notices = 0;   ///< congestion notices
  std::uint64_t pulls = 0;     ///< packets that receivers asked for
  std::uint64_t timeouts = 0;
};

}  // namespace athanor
