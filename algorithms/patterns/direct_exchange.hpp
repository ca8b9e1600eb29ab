#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <fmt/core.h>

namespace athanor {

/// Everyone to everyone by distances: port i leads to the rank i + 1 places on, and comes from the rank i + 1 back.
inline std::uint32_t rank_after(std::uint32_t rank, std::uint32_t port, std::uint32_t ranks) {
  return (rank + 1 + port) % ranks;
}
inline std::uint32_t rank_before(std::uint32_t rank, std::uint32_t port, std::uint32_t ranks) {
  return (rank + ranks - 1 - port) % ranks;
}

/// Why so many ranks should not all be connected with each other at once, or nothing.
inline std::optional<std::string> refuse_all_at_once(std::uint32_t ranks) {
  constexpr std::uint32_t kMost = 256;
  if (ranks <= kMost) { return std::nullopt; }
  return fmt::format("it sends to all others at once, which is for the ranks of one node: {} are more than {}", ranks,
                     kMost);
}

}  // namespace athanor
