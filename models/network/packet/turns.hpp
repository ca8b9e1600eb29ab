#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/network/ids.hpp"

namespace athanor {

/// A time in a window and a link, in one number: the earlier is less, and of one instant the lower link.
using Moment = std::uint64_t;
constexpr Moment kNever = UINT64_MAX;
constexpr std::uint32_t instant_of(Moment moment) { return static_cast<std::uint32_t>(moment >> 32U); }
constexpr LinkIndex link_of(Moment moment) { return LinkIndex{static_cast<std::uint32_t>(moment)}; }

/// Moments in order. What is added comes soon, an acknowledgement that is being sent, or last, as a data packet does:
/// it is put in from the nearer end.
class Turns {
 public:
  void clear() {
    if (places_.size() < kSlack + kGuards) { places_.resize(2 * (kSlack + kGuards)); }
    begin_ = end_ = kSlack;
    guard();
  }
  /// kNever: there is none.
  Moment first() const { return places_[begin_]; }
  Moment second() const { return places_[begin_ + 1]; }
  /// Requires that there is one.
  void pop() { ++begin_; }

  void add(Moment moment) {
    const std::size_t count = end_ - begin_;
    for (std::size_t k = 0; k < count; ++k) {
      if (places_[end_ - 1 - k] <= moment) { return put_before_end(k, moment); }
      if (places_[begin_ + k] > moment && begin_ > 0) { return put_behind_begin(k, moment); }
    }
    put_before_end(count, moment);
  }

 private:
  static constexpr std::size_t kSlack = 16;  ///< places at the front for a beginning
  static constexpr std::size_t kGuards = 2;  ///< kNever, behind the last

  void guard() { places_[end_] = places_[end_ + 1] = kNever; }
  void put_before_end(std::size_t later, Moment moment) {
    if (end_ + kGuards == places_.size()) { places_.resize(2 * places_.size()); }
    for (std::size_t k = 0; k < later; ++k) { places_[end_ - k] = places_[end_ - k - 1]; }
    places_[end_ - later] = moment;
    ++end_;
    guard();
  }
  void put_behind_begin(std::size_t earlier, Moment moment) {
    --begin_;
    for (std::size_t k = 0; k < earlier; ++k) { places_[begin_ + k] = places_[begin_ + k + 1]; }
    places_[begin_ + earlier] = moment;
  }

  std::vector<Moment> places_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace athanor
