#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace athanor {

/// One direction of a link: so many units of data in a unit of time. Requires capacity > 0.
struct CapacityLink {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::int64_t capacity = 0;
  bool operator==(const CapacityLink&) const = default;
};

/// Who can send how much to whom. Vertices 0 .. ranks-1 are ranks, which keep data, copy and pass them on; those behind
/// them are switches, which only pass on.
struct CapacityGraph {
  std::uint32_t ranks = 0;
  std::uint32_t vertices = 0;
  std::vector<CapacityLink> links;
};

/// The same in fewer vertices and links, every cut between ranks being as wide as before: parallel links are one, a
/// switch with two neighbours becomes the narrower of its links, one with a single neighbour nothing. Links are ordered
/// by their ends.
CapacityGraph simplified(const CapacityGraph& graph);

/// Every link the other way round.
CapacityGraph transposed(const CapacityGraph& graph);

/// Two ranks, the first of which cannot send to the second by any way; none: all reach each other.
std::optional<std::pair<std::uint32_t, std::uint32_t>> unreachable_pair(const CapacityGraph& graph);

}  // namespace athanor
