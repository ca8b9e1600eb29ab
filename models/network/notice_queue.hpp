#pragma once

#include <cstdint>
#include <vector>

#include "models/network/heap.hpp"
#include "models/network/network.hpp"
#include "sim/time.hpp"

namespace athanor {

/// What a network has to tell its listener, in the order in which it must be told when times are equal.
enum class Notice : std::uint32_t { injected, grain_arrived, delivered };

/// Notices to be given, earliest first. Equal ones have no order among themselves.
class NoticeQueue {
 public:
  struct Entry {
    Time when;
    Notice notice = Notice::injected;
    ConnectionId connection;
    std::int64_t note = 0;  ///< for the network's own use

    bool before(const Entry& other) const { return when != other.when ? when < other.when : notice < other.notice; }
  };

  bool empty() const { return heap_.empty(); }
  /// Requires !empty().
  const Entry& top() const { return heap_.front(); }
  void push(const Entry& entry) { heap_push(heap_, entry); }
  /// Requires !empty().
  void pop() { heap_pop(heap_); }
  void fast_forward(Time by);
  /// Appends the entries in a canonical order, with times relative to `now`.
  void snapshot(Time now, std::vector<std::int64_t>& state) const;

 private:
  std::vector<Entry> heap_;
};

}  // namespace athanor
