#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/execution/rank_memory.hpp"

namespace athanor {

/// Memory for the messages of a process that do not lie in the buffers of its agents: `slots` per connection, each
/// allocated when it is first used, for most never are. A slot never moves, since a send may still read it.
class SlotRoom {
 public:
  /// `bytes`: of the longest message.
  SlotRoom(std::size_t connections, std::uint32_t slots, std::size_t bytes)
      : slots_(slots), bytes_(bytes), rooms_(connections * slots) {}

  std::byte* slot(std::size_t connection, std::uint64_t message) {
    std::optional<PageMemory>& room = rooms_[connection * slots_ + message % slots_];
    if (!room) { room.emplace(bytes_); }
    return room->bytes().data();
  }

 private:
  std::uint32_t slots_;
  std::size_t bytes_;
  std::vector<std::optional<PageMemory>> rooms_;
};

}  // namespace athanor
