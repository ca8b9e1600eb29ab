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

PeerCopies::PeerCopies(const MemoryCheckpoints& memory, const Allocation& where) : memory_(memory) {
  for (const NodeShare& share : where) {
    if (places_.try_emplace(share.node, nodes_.size()).second) { nodes_.push_back(share.node); }
  }
}

bool PeerCopies::survive(const std::vector<NodeId>& lost) const {
  const std::set<NodeId> all_lost(lost.begin(), lost.end());
  for (const NodeId node : all_lost) {
    const auto found = places_.find(node);
    if (found == places_.end()) { continue; }
    const std::size_t place = found->second;
    const Group group = group_of(place, nodes_.size(), memory_);
    bool left = false;
    for (std::size_t copy = 1; copy < std::min<std::size_t>(memory_.copies, group.size); ++copy) {
      left = left || !all_lost.contains(nodes_[group.first + (place - group.first + copy) % group.size]);
    }
    if (!left) { return false; }
  }
  return true;
}

}  // namespace athanor
