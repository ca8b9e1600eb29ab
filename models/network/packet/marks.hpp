#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace athanor {

/// Which packets of a flow are there, where they may come in any order: all below first(), and some beyond.
class Marks {
 public:
  /// The lowest that is not there.
  std::uint32_t first() const { return first_; }
  bool has(std::uint32_t number) const {
    return number < first_ || (place(number) < beyond_.size() && beyond_[place(number)]);
  }
  /// Returns false where it was there already.
  bool add(std::uint32_t number) {
    if (has(number)) { return false; }
    if (place(number) >= beyond_.size()) { beyond_.resize(place(number) + 1); }
    beyond_[place(number)] = true;
    for (; begin_ < beyond_.size() && beyond_[begin_]; ++begin_) { ++first_; }
    if (begin_ == beyond_.size() || begin_ > kMostWaste) {
      beyond_.erase(beyond_.begin(), beyond_.begin() + static_cast<std::ptrdiff_t>(begin_));
      begin_ = 0;
    }
    return true;
  }

 private:
  static constexpr std::size_t kMostWaste = 4096;  ///< bits kept of what is below first()
  std::size_t place(std::uint32_t number) const { return begin_ + (number - first_); }

  std::uint32_t first_ = 0;
  std::size_t begin_ = 0;     ///< where first_ is in `beyond_`
  std::vector<bool> beyond_;  ///< empty where all came in order
};

}  // namespace athanor
