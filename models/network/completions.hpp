#pragma once

#include <cstdint>
#include <vector>

#include "models/network/heap.hpp"
#include "models/network/network.hpp"
#include "sim/time.hpp"

namespace athanor {

/// When each connection will have injected its present message, earliest first; at most one entry a connection, which
/// can be moved or taken out. Equal times have no order.
class Completions {
 public:
  explicit Completions(std::size_t connections) : place_(connections, kOut) {}

  bool empty() const { return heap_.empty(); }
  /// Requires !empty().
  Time next() const { return heap_.front().when; }
  /// Takes out the earliest and returns its connection. Requires !empty().
  ConnectionId pop();
  /// Puts the connection in, or moves it.
  void set(ConnectionId connection, Time when);
  /// Requires that the connection is in.
  Time when(ConnectionId connection) const { return heap_[place_[connection]].when; }
  void fast_forward(Time by);

 private:
  struct Entry {
    Time when;
    ConnectionId connection;

    bool before(const Entry& other) const { return when < other.when; }
  };
  auto remember_place() {
    return
        [this](const Entry& entry, std::size_t place) { place_[entry.connection] = static_cast<std::uint32_t>(place); };
  }

  static constexpr std::uint32_t kOut = UINT32_MAX;
  std::vector<Entry> heap_;
  IdVector<ConnectionId, std::uint32_t> place_;  ///< in the heap
};

}  // namespace athanor
