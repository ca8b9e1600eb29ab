#include "algorithms/patterns/node_groups.hpp"

#include <fmt/format.h>

#include "algorithms/aggregation_tree.hpp"

namespace athanor {

namespace {

std::uint32_t group_of(std::uint32_t ranks, const Layout& layout) {
  constexpr std::uint32_t kMost = 8;
  if (layout.group > 0) { return layout.group; }
  for (std::uint32_t group = kMost; group > 1; --group) {
    if (ranks % group == 0 && ranks > group) { return group; }
  }
  return 1;
}

}  // namespace

NodeGroups::NodeGroups(std::uint32_t ranks, const Layout& layout)
    : group(group_of(ranks, layout)), nodes(ranks / group) {}

std::optional<std::string> refuses_heads(const Collective& collective, const Layout& layout, std::uint32_t most_heads,
                                         bool aggregates) {
  const NodeGroups groups(collective.ranks, layout);
  if (groups.nodes < 2) { return fmt::format("it needs at least two nodes, and {} ranks are one", groups.group); }
  if (groups.group > most_heads) {
    return fmt::format("it takes nodes of at most {} ranks, not {}", most_heads, groups.group);
  }
  if (!aggregates || layout.trees.empty()) { return std::nullopt; }
  if (layout.trees.size() != groups.group) {
    return fmt::format("there are {} aggregation trees for {} heads of a node", layout.trees.size(), groups.group);
  }
  for (const auto& tree : layout.trees) {
    if (tree->ranks() == groups.nodes) { continue; }
    return fmt::format("an aggregation tree has {} ranks, and there are {} nodes", tree->ranks(), groups.nodes);
  }
  return std::nullopt;
}

}  // namespace athanor
