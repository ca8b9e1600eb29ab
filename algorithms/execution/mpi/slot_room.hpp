#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/execution/rank_memory.hpp"

namespace athanor {

/// Memory for the messages of a process that do not lie in the buffers of its agents: `slots` per connection, each
/// allocated when it is first used, for most never are.
class SlotRoom {
 public:
  SlotRoom(std::size_t connections, std::uint32_t slots) : slots_(slots), rooms_(connections * slots) {}

  /// The slot of a message. Larger ones move it: requires that it is not in use.
  std::byte* slot(std::size_t connection, std::uint64_t message, std::size_t bytes) {
    std::optional<PageMemory>& room = rooms_[connection * slots_ + message % slots_];
    if (!room || room->bytes().size() < bytes) { room.emplace(bytes); }
    return room->bytes().data();
  }

 private:
  std::uint32_t slots_;
  std::vector<std::optional<PageMemory>> rooms_;
};

}  // namespace athanor
