#pragma once

#include <cstdint>
#include <vector>

#include "sim/time.hpp"
#include "sim/wall_time.hpp"

namespace athanor {

/// Something to happen: `order` decides among events of one time, the smaller first.
template <class Moment>
struct EventAt {
  Moment when;
  std::uint64_t order = 0;
  std::uint64_t what = 0;

  bool before(const EventAt& other) const { return when != other.when ? when < other.when : order < other.order; }
};

/// Pending events, earliest first: a 4-ary heap (shallower than a binary one, four children share cache lines). Moment:
/// Time or WallTime.
template <class Moment>
class EventQueueOf {
 public:
  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  /// Requires !empty().
  const EventAt<Moment>& top() const { return heap_.front(); }
  void push(const EventAt<Moment>& event);
  void pop();
  void clear() { heap_.clear(); }
  /// Moves every pending event `by` later; the order stays.
  void delay(Moment by);

 private:
  std::vector<EventAt<Moment>> heap_;
};

using Event = EventAt<Time>;
using EventQueue = EventQueueOf<Time>;
extern template class EventQueueOf<Time>;
extern template class EventQueueOf<WallTime>;

}  // namespace athanor
