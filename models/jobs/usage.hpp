#pragma once

#include <cstdint>
#include <vector>

#include "sim/wall_time.hpp"

namespace athanor {

/// What a cluster does over time: averages of equal spans, at most 2048 of them, which get longer as time goes on.
class Usage {
 public:
  struct Level {
    double gpus = 0;     ///< in use, shares of them in part
    double running = 0;  ///< jobs
    double waiting = 0;  ///< jobs
  };

  /// From now on so. Requires that time does not go back.
  void set(WallTime now, const Level& level);
  /// Nothing is set any more.
  void end(WallTime now) { advance(now); }

  WallTime width() const { return width_; }
  WallTime ended() const { return now_; }
  /// Averages of the spans so far; the last one is cut off at ended().
  std::vector<Level> averages() const;
  /// Of all the time, times seconds.
  const Level& sums() const { return sums_; }
  /// The highest that was set.
  const Level& peak() const { return peak_; }

 private:
  static constexpr std::size_t kMost = 2048;
  void advance(WallTime now);
  void widen();

  WallTime now_;
  WallTime width_ = WallTime{1'000'000};
  Level level_;
  Level sums_;
  Level peak_;
  std::vector<Level> spans_;  ///< sums, times seconds
};

}  // namespace athanor
