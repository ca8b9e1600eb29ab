#pragma once

#include <cstdint>

#include "algorithms/collective.hpp"

namespace athanor {

/// A collective of about `count` elements that its kind allows: none in a barrier, and in an all-to-all-v a table of
/// unequal sizes, some of them 0, about as large together as `count` per rank.
Collective sample(CollectiveKind kind, std::uint32_t ranks, std::int64_t count, std::uint32_t root = 0,
                  bool in_place = false);

}  // namespace athanor
