#pragma once

#include <cstdint>
#include <vector>

#include "sim/time.hpp"

namespace athanor {

/// Something to happen: `order` decides among events of one time, the smaller first.
struct Event {
  Time when;
  std::uint64_t order = 0;
  std::uint64_t what = 0;

  bool before(const Event& other) const { return when != other.when ? when < other.when : order < other.order; }
};

/// Pending events, earliest first: a 4-ary heap (shallower than a binary one, four children share cache lines).
class EventQueue {
 public:
  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  /// Requires !empty().
  const Event& top() const { return heap_.front(); }
  void push(const Event& event);
  void pop();
  void clear() { heap_.clear(); }
  /// Moves every pending event `by` later; the order stays.
  void delay(Time by);

 private:
  std::vector<Event> heap_;
};

}  // namespace athanor
