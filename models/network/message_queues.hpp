#pragma once

#include <cstdint>
#include <vector>

#include "models/network/network.hpp"
#include "sim/units.hpp"

namespace athanor {

/// First-in, first-out queues of message sizes, one for each connection, in one pool: nothing is allocated once the
/// pool has grown to the most messages that ever waited at a time.
class MessageQueues {
 public:
  explicit MessageQueues(std::size_t connections) : queues_(connections) {}

  bool empty(ConnectionId connection) const { return queues_[connection].length == 0; }
  /// Requires !empty(connection).
  Bytes front(ConnectionId connection) const { return pool_[queues_[connection].head].size; }
  void push(ConnectionId connection, Bytes size);
  /// Requires !empty(connection).
  void pop(ConnectionId connection);
  /// Appends the length of the queue and its sizes, in order.
  void snapshot(ConnectionId connection, std::vector<std::int64_t>& state) const;

 private:
  struct Message {
    Bytes size;
    std::uint32_t next = 0;
  };
  struct Queue {
    std::uint32_t head = 0;
    std::uint32_t tail = 0;
    std::uint32_t length = 0;
  };
  std::uint32_t take_free();

  static constexpr std::uint32_t kNone = UINT32_MAX;
  IdVector<ConnectionId, Queue> queues_;
  std::vector<Message> pool_;
  std::uint32_t free_ = kNone;
};

}  // namespace athanor
