#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "algorithms/collective.hpp"

namespace athanor {

/// Ranks as nodes of equally many, in order: Layout::group of them on a node. Where the layout has none, the greatest
/// divisor of the ranks up to eight that leaves two nodes: a shape to look at, which no model takes. Every rank of a
/// node is a head: the one that speaks with the heads of the same place on other nodes.
struct NodeGroups {
  std::uint32_t group = 1;
  std::uint32_t nodes = 1;

  NodeGroups(std::uint32_t ranks, const Layout& layout);

  std::uint32_t node(std::uint32_t rank) const { return rank / group; }
  std::uint32_t place(std::uint32_t rank) const { return rank % group; }
  std::uint32_t rank(std::uint32_t node, std::uint32_t place) const { return node * group + place; }
  /// The place so many after another, round the node, and how many places one is after another.
  std::uint32_t after(std::uint32_t place, std::uint32_t places) const { return (place + places) % group; }
  std::uint32_t distance(std::uint32_t from, std::uint32_t to) const { return (to + group - from) % group; }
};

/// Why an algorithm with heads on at least two nodes cannot run: one node alone, more heads than `most_heads`. Where
/// `aggregates`: also where the layout's trees are not one per head over all nodes.
std::optional<std::string> refuses_heads(const Collective& collective, const Layout& layout, std::uint32_t most_heads,
                                         bool aggregates);

}  // namespace athanor
