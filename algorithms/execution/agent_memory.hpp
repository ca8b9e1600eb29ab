#pragma once

#include <cstddef>
#include <cstdint>

#include "algorithms/execution/apply.hpp"
#include "algorithms/schedule/schedule.hpp"

namespace athanor {

/// Where an agent's buffers begin; null where they hold nothing.
struct AgentMemory {
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  std::byte* scratch = nullptr;

  /// The cells' elements, of `size` bytes each.
  Source source(const Cells& cells, std::size_t size) const {
    switch (cells.buffer) {
      case Buffer::input: return strided(input, cells, size);
      case Buffer::output: return strided<const std::byte>(output, cells, size);
      case Buffer::scratch: break;
    }
    return strided<const std::byte>(scratch, cells, size);
  }
  /// Requires that the cells do not lie in the input.
  Target target(const Cells& cells, std::size_t size) const {
    return strided(cells.buffer == Buffer::output ? output : scratch, cells, size);
  }

 private:
  template <class Byte>
  static Strided<Byte> strided(Byte* buffer, const Cells& cells, std::size_t size) {
    return {buffer + cells.first.count() * static_cast<std::int64_t>(size), cells.run.count(), cells.stride.count()};
  }
};

}  // namespace athanor
