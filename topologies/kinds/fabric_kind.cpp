#include "topologies/kinds/fabric_kind.hpp"

#include <algorithm>

namespace athanor {

Wide product(const std::vector<std::uint32_t>& sizes) {
  Wide result = 1;
  for (const std::uint32_t size : sizes) { result = std::min(result * size, kMostMembers); }
  return result;
}

std::uint32_t divided_up(Wide dividend, Wide divisor) {
  return static_cast<std::uint32_t>(std::min((dividend + divisor - 1) / divisor, kMostMembers >> 10U));
}

Wide members_on(Wide attachments, NicsPerNode nics) { return attachments / std::max(nics.value_or(1), 1U); }

}  // namespace athanor
