#pragma once

#include <cstdint>
#include <vector>

#include "sim/units.hpp"

namespace athanor {

/// First-in, first-out queues of message sizes, one for each connection, in one pool: nothing is allocated once the
/// pool has grown to the most messages that ever waited at a time.
class MessageQueues {
 public:
  explicit MessageQueues(std::size_t queues) : queues_(queues) {}

  bool empty(std::uint32_t queue) const { return queues_[queue].length == 0; }
  /// Requires !empty(queue).
  Bytes front(std::uint32_t queue) const { return pool_[queues_[queue].head].size; }
  void push(std::uint32_t queue, Bytes size);
  /// Requires !empty(queue).
  void pop(std::uint32_t queue);
  /// Appends the length of the queue and its sizes, in order.
  void snapshot(std::uint32_t queue, std::vector<std::int64_t>& state) const;

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
  std::vector<Queue> queues_;
  std::vector<Message> pool_;
  std::uint32_t free_ = kNone;
};

}  // namespace athanor
