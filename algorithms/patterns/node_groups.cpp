#include "algorithms/patterns/node_groups.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

#include "algorithms/schedule/aggregation_tree.hpp"

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

NodeHeads::NodeHeads(const NodeGroups& groups, const Layout& layout)
    : places_(layout.as<EngineTreeShape>().heads), first_(groups.group) {
  if (places_.empty()) {
    places_.resize(groups.group);
    std::iota(places_.begin(), places_.end(), 0U);
  }
  for (std::uint32_t place = 0; place < groups.group; ++place) {
    const auto found = std::lower_bound(places_.begin(), places_.end(), place);
    first_[place] = found == places_.end() ? 0 : static_cast<std::uint32_t>(found - places_.begin());
  }
}

std::optional<std::string> refuses_heads(const Collective& collective, const Layout& layout, std::uint32_t most_ranks,
                                         bool aggregates) {
  const NodeGroups groups(collective.ranks, layout);
  const auto& [trees, places, outstanding] = layout.as<EngineTreeShape>();
  if (groups.nodes < 2) { return fmt::format("it needs at least two nodes, and {} ranks are one", groups.group); }
  if (groups.group > most_ranks) {
    return fmt::format("it takes nodes of at most {} ranks, not {}", most_ranks, groups.group);
  }
  if (!places.empty() && places.back() >= groups.group) {
    return fmt::format("a head is at place {} of nodes of {} ranks", places.back(), groups.group);
  }
  if (!aggregates || trees.empty()) { return std::nullopt; }
  const std::uint32_t heads = NodeHeads(groups, layout).count();
  if (trees.size() != heads) {
    return fmt::format("there are {} aggregation trees for {} heads of a node", trees.size(), heads);
  }
  for (const auto& tree : trees) {
    if (tree->ranks() == groups.nodes) { continue; }
    return fmt::format("an aggregation tree has {} ranks, and there are {} nodes", tree->ranks(), groups.nodes);
  }
  return std::nullopt;
}

}  // namespace athanor
