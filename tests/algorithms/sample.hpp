#pragma once

#include <cstdint>
#include <memory>

#include "algorithms/schedule/collective.hpp"

namespace athanor {

/// A collective of about `count` elements that its kind allows: none in a barrier, and in an all-to-all-v a table of
/// unequal sizes, some of them 0, about as large together as `count` per rank.
Collective sample(CollectiveKind kind, std::uint32_t ranks, std::int64_t count, std::uint32_t root = 0,
                  bool in_place = false);

/// Three paths through a group that no rotation gives, other ones through groups of odd number: ascending and
/// descending as a pair of each other's reverse, which groups of odd number swap, and even places before odd ones.
std::shared_ptr<const ChannelOrders> sample_orders(std::uint32_t group);

}  // namespace athanor
