#pragma once

#include <cstdint>
#include <memory>

namespace athanor {

/// A first-in, first-out queue in one block of memory, which grows by doubling and is kept. Compact: there are several
/// of them for each port of a fabric. For plain values.
template <class T>
class Ring {
 public:
  bool empty() const { return count_ == 0; }
  std::uint32_t size() const { return count_; }
  /// Requires !empty().
  const T& front() const { return places_[first_]; }
  /// The k-th oldest.
  T& at(std::uint32_t k) { return places_[(first_ + k) & mask_]; }
  const T& at(std::uint32_t k) const { return places_[(first_ + k) & mask_]; }
  /// Bring near the oldest, or the place of the next one that is pushed.
  void approach_front() const {
    if (places_) { approach(&places_[first_]); }
  }
  void approach_end() const {
    if (places_) { approach(&places_[(first_ + count_) & mask_]); }
  }
  void pop() {
    first_ = (first_ + 1) & mask_;
    --count_;
  }
  /// The oldest so many, which stay where they are until something is pushed.
  void pop(std::uint32_t count) {
    first_ = (first_ + count) & mask_;
    count_ -= count;
  }
  void push(const T& value) {
    if (count_ > mask_ || !places_) { grow(); }
    places_[(first_ + count_++) & mask_] = value;
  }

 private:
  /// It may lie across two cache lines.
  static void approach(const T* place) {
    __builtin_prefetch(place);
    __builtin_prefetch(reinterpret_cast<const char*>(place + 1) - 1);
  }
  void grow() {
    const std::uint32_t capacity = places_ ? 2 * (mask_ + 1) : 4;
    std::unique_ptr<T[]> larger(new T[capacity]);
    for (std::uint32_t k = 0; k < count_; ++k) { larger[k] = at(k); }
    places_ = std::move(larger);
    mask_ = capacity - 1;
    first_ = 0;
  }

  std::unique_ptr<T[]> places_;
  std::uint32_t mask_ = 0;
  std::uint32_t first_ = 0;
  std::uint32_t count_ = 0;
};

}  // namespace athanor
