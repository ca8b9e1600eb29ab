#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

namespace athanor {

/// Whether several threads together are faster than one for all of them, which depends on what there is to do and on
/// what else the machine does: found out by its clock, for windows that follow each other. For work whose result does
/// not depend on the choice.
class ThreadChoice {
 public:
  /// What shall be done in the next window?
  bool together() const { return together_; }

  /// A window is over, in which so many events have happened.
  void note(std::uint64_t events) {
    events_ += events;
    if (++windows_ < kLeastWindows || events_ < kLeastEvents) { return; }
    const auto now = std::chrono::steady_clock::now();
    cost_[together_ ? 1 : 0] = std::chrono::duration<double>(now - begin_).count() / static_cast<double>(events_);
    begin_ = now;
    events_ = windows_ = 0;
    choose();
  }

 private:
  static constexpr std::uint64_t kLeastWindows = 4;
  static constexpr std::uint64_t kLeastEvents = 1000;
  static constexpr std::uint32_t kSeldom = 512;  ///< spans, at most, until what was slower is tried again

  /// After a span of windows.
  void choose() {
    if (together_ == favoured_) {
      if (--left_ == 0) { together_ = !favoured_; }
      return;
    }
    const bool better = cost_[together_ ? 1 : 0] < cost_[favoured_ ? 1 : 0];
    favoured_ = better ? together_ : favoured_;
    patience_ = better ? 4 : std::min(2 * patience_, kSeldom);
    left_ = patience_;
    together_ = favoured_;
  }

  bool together_ = true;
  bool favoured_ = true;
  std::uint32_t left_ = 1;        ///< spans until the other is tried
  std::uint32_t patience_ = 4;    ///< spans between two tries
  std::array<double, 2> cost_{};  ///< seconds an event, the last time: alone, and together
  std::uint64_t events_ = 0;
  std::uint64_t windows_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace athanor
