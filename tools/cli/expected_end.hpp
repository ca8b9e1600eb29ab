#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace athanor {

/// When simulations that follow each other are expected to be done, from what each is expected to take, and from what
/// those that are done have taken of that.
class ExpectedEnd {
 public:
  using Clock = std::chrono::steady_clock;

  /// Of each, in their order.
  explicit ExpectedEnd(std::vector<double> seconds) : seconds_(std::move(seconds)) {}

  /// The next one begins, and those before it have ended.
  void begins(Clock::time_point now);
  /// From now on until the last one has ended, at least 0. Once one takes longer than it was expected to, nobody knows
  /// by how much: it counts as half done.
  double seconds_left(Clock::time_point now) const;
  /// ", 40 %, done in about 3 min (14:05)"; "" where little is left, and before the first.
  std::string text(Clock::time_point now) const;

 private:
  double ratio() const;

  std::vector<double> seconds_;
  std::size_t begun_ = 0;
  Clock::time_point first_;
  Clock::time_point last_;  ///< when the present one began
  double expected_ = 0;     ///< of those that are done
};

}  // namespace athanor
