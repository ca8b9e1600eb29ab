#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/wall_time.hpp"

namespace athanor {

/// What became of one job, from one thing that happened to it to the next.
struct JobStory {
  static constexpr std::size_t kMost = 1000;  ///< events that are kept

  struct Event {
    WallTime when;
    std::string what;  ///< "waits behind job 3"
  };

  /// Nothing where that is what was noted last.
  void note(WallTime when, std::string what) {
    if (!events.empty() && events.back().what == what) { return; }
    if (events.size() == kMost) {
      ++left_out;
      return;
    }
    events.push_back({when, std::move(what)});
  }

  std::vector<Event> events;
  std::uint64_t left_out = 0;  ///< behind the last one
};

}  // namespace athanor
