#include "models/jobs/failures/standby_nodes.hpp"

#include <algorithm>

namespace athanor {

StandbyNodes::StandbyNodes(std::uint32_t spares, Inventory& inventory)
    : lost_until_(inventory.nodes().count(), WallTime{-1}),
      is_standby_(inventory.nodes().count()),
      is_cordoned_(inventory.nodes().count()) {
  const std::uint32_t nodes = inventory.nodes().count();
  for (std::uint32_t node = nodes - std::min(spares, nodes); node < nodes; ++node) {
    inventory.close(NodeId{node});
    standing_by_.push_back(NodeId{node});
    is_standby_[node] = true;
  }
}

void StandbyNodes::lost(NodeId node, WallTime repaired, Inventory& inventory) {
  WallTime& until = lost_until_[node.value];
  const bool already = until >= WallTime::zero() || is_cordoned_[node.value];
  until = std::max(until, repaired);
  if (!already) { withdraw(node, inventory); }
}

bool StandbyNodes::cordon(NodeId node, Inventory& inventory) {
  if (is_cordoned_[node.value]) { return false; }
  is_cordoned_[node.value] = true;
  if (lost_until_[node.value] < WallTime::zero()) { withdraw(node, inventory); }
  return true;
}

void StandbyNodes::drained(NodeId node, WallTime repaired) {
  is_cordoned_[node.value] = false;
  lost_until_[node.value] = std::max(lost_until_[node.value], repaired);
}

void StandbyNodes::withdraw(NodeId node, Inventory& inventory) {
  if (is_standby_[node.value]) {
    standing_by_.erase(std::find(standing_by_.begin(), standing_by_.end(), node));
    is_standby_[node.value] = false;
    return;
  }
  inventory.close(node);
  if (standing_by_.empty()) {
    ++missing_;
    return;
  }
  const NodeId other = standing_by_.back();
  standing_by_.pop_back();
  is_standby_[other.value] = false;
  inventory.open(other);
}

bool StandbyNodes::repaired(NodeId node, WallTime now, Inventory& inventory) {
  WallTime& until = lost_until_[node.value];
  if (until > now || until < WallTime::zero() || is_cordoned_[node.value]) { return false; }
  until = WallTime{-1};
  if (missing_ > 0) {
    --missing_;
    inventory.open(node);
    return true;
  }
  is_standby_[node.value] = true;
  standing_by_.push_back(node);
  return true;
}

}  // namespace athanor
