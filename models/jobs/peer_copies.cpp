#include "models/jobs/peer_copies.hpp"

#include <algorithm>
#include <set>

namespace athanor {

namespace {

struct Group {
  std::size_t first = 0;
  std::size_t size = 0;
};

Group group_of(std::size_t node, std::size_t nodes, const MemoryCheckpoints& memory) {
  const std::size_t size = std::max(memory.group, memory.copies);
  const std::size_t rest = nodes % size;
  const std::size_t groups = std::max<std::size_t>(1, nodes / size + (rest >= memory.copies ? 1 : 0));
  const std::size_t group = std::min(node / size, groups - 1);
  return {group * size, group + 1 == groups ? nodes - group * size : size};
}

}  // namespace

bool copies_survive(const MemoryCheckpoints& memory, const Allocation& where, const std::vector<NodeId>& lost) {
  std::vector<NodeId> nodes;
  std::set<NodeId> seen;
  for (const NodeShare& share : where) {
    if (seen.insert(share.node).second) { nodes.push_back(share.node); }
  }
  const std::set<NodeId> all_lost(lost.begin(), lost.end());
  const auto is_lost = [&](NodeId node) { return all_lost.contains(node); };
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    if (!is_lost(nodes[node])) { continue; }
    const Group group = group_of(node, nodes.size(), memory);
    bool left = false;
    for (std::size_t copy = 1; copy < std::min<std::size_t>(memory.copies, group.size); ++copy) {
      left = left || !is_lost(nodes[group.first + (node - group.first + copy) % group.size]);
    }
    if (!left) { return false; }
  }
  return true;
}

}  // namespace athanor
