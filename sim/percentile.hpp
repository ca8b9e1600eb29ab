#pragma once

#include <cstddef>
#include <vector>

namespace athanor {

/// The value that `percent` of sorted values do not exceed: by nearest rank, so that it is one of them. Requires values
/// and 1 <= percent <= 100.
template <class Value>
const Value& percentile(const std::vector<Value>& sorted, std::size_t percent) {
  return sorted[(sorted.size() * percent + 99) / 100 - 1];
}

}  // namespace athanor
