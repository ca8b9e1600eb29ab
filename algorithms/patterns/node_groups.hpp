#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/schedule/collective.hpp"

namespace athanor {

/// Ranks as nodes of equally many, in order: Layout::group of them on a node. Where the layout has none, the greatest
/// divisor of the ranks up to eight that leaves two nodes: a shape to look at, which no model takes.
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

/// The ranks of a node that speak with those of the same places on other nodes, by number in ascending order of places:
/// EngineTreeShape::heads, or all. Every rank counts them from the first one at its place or after it, so that the
/// ranks of a node do not all turn to the same head at the same time.
class NodeHeads {
 public:
  NodeHeads(const NodeGroups& groups, const Layout& layout);

  std::uint32_t count() const { return static_cast<std::uint32_t>(places_.size()); }
  std::uint32_t place(std::uint32_t head) const { return places_[head]; }
  bool is_head(std::uint32_t place) const { return places_[first_[place]] == place; }
  /// The head at that place. Requires one.
  std::uint32_t at(std::uint32_t place) const { return first_[place]; }
  /// The head that is so many after the first at a place or after it, and how many it is after that.
  std::uint32_t after(std::uint32_t place, std::uint32_t heads) const { return (first_[place] + heads) % count(); }
  std::uint32_t distance(std::uint32_t place, std::uint32_t head) const {
    return (head + count() - first_[place]) % count();
  }

 private:
  std::vector<std::uint32_t> places_;
  std::vector<std::uint32_t> first_;  ///< by place: the first head there or after it
};

/// Why an algorithm with heads on at least two nodes cannot run: one node alone, nodes of more ranks than `most_ranks`.
/// Where `aggregates`: also where the layout's trees are not one per head over all nodes.
std::optional<std::string> refuses_heads(const Collective& collective, const Layout& layout, std::uint32_t most_ranks,
                                         bool aggregates);

}  // namespace athanor
