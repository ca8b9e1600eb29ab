#pragma once

#include <cstdint>
#include <vector>

namespace athanor {

/// A message over one of several links, each of which carries one after the other.
struct Transfer {
  static constexpr std::uint32_t kNone = 0xffffffff;

  std::uint32_t link = 0;
  std::int64_t time = 0;        ///< that it takes, in any unit
  std::uint32_t after = kNone;  ///< the number of the one that has to end before, below its own
};

/// The numbers of all, in the order in which they begin when every link takes, of those that can begin, the one with
/// the longest way behind it; of several the first.
std::vector<std::uint32_t> in_order_of_start(const std::vector<Transfer>& transfers);

}  // namespace athanor
