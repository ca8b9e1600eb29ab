#include "models/network/message_queues.hpp"

namespace athanor {

std::uint32_t MessageQueues::take_free() {
  if (free_ == kNone) {
    pool_.emplace_back();
    return static_cast<std::uint32_t>(pool_.size() - 1);
  }
  const std::uint32_t taken = free_;
  free_ = pool_[taken].next;
  return taken;
}

void MessageQueues::push(ConnectionId connection, Bytes size) {
  const std::uint32_t message = take_free();
  pool_[message].size = size;
  Queue& self = queues_[connection];
  (self.length == 0 ? self.head : pool_[self.tail].next) = message;
  self.tail = message;
  ++self.length;
}

void MessageQueues::pop(ConnectionId connection) {
  Queue& self = queues_[connection];
  const std::uint32_t head = self.head;
  self.head = pool_[head].next;
  --self.length;
  pool_[head].next = free_;
  free_ = head;
}

void MessageQueues::snapshot(ConnectionId connection, std::vector<std::int64_t>& state) const {
  const Queue& self = queues_[connection];
  state.push_back(self.length);
  std::uint32_t message = self.head;
  for (std::uint32_t k = 0; k < self.length; ++k) {
    state.push_back(pool_[message].size.count());
    message = pool_[message].next;
  }
}

}  // namespace athanor
