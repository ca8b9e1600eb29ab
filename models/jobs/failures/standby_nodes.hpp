#pragma once

#include <cstdint>
#include <vector>

#include "models/jobs/inventory.hpp"
#include "sim/wall_time.hpp"

namespace athanor {

/// Nodes that are lost, and those that stand by to take their place.
class StandbyNodes {
 public:
  /// Closes the last `spares` nodes: they stand by. All, where there are no more.
  StandbyNodes(std::uint32_t spares, Inventory& inventory);

  /// A node is lost until then, or until later if it is lost already; another takes its place. max: for good.
  void lost(NodeId node, WallTime repaired, Inventory& inventory);
  /// A node gets no more tasks, and another takes its place. False: that was so already.
  bool cordon(NodeId node, Inventory& inventory);
  /// Whether a node is lost, or gets no more tasks.
  bool is_out(NodeId node) const { return lost_until_[node.value] >= WallTime::zero() || is_cordoned_[node.value]; }
  /// Nothing runs any more on a node that was cordoned, and it is repaired until then.
  void drained(NodeId node, WallTime repaired);
  /// A repair has ended. False: another one of the same node goes on. A node whose place has been taken stands by.
  bool repaired(NodeId node, WallTime now, Inventory& inventory);

 private:
  void withdraw(NodeId node, Inventory& inventory);

  std::vector<NodeId> standing_by_;  ///< the last of them is the next
  std::vector<WallTime> lost_until_;
  std::vector<bool> is_standby_;
  std::vector<bool> is_cordoned_;
  std::uint32_t missing_ = 0;  ///< nodes lost that nobody has taken the place of
};

}  // namespace athanor
