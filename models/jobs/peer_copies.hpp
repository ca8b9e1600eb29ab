#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "models/jobs/checkpoints.hpp"
#include "models/jobs/inventory.hpp"

namespace athanor {

/// Where the parts are of what a job keeps in the memory of its nodes. Nodes are in groups in their order; a rest that
/// is too small for all copies joins the group before it. The copies of a node's part are on itself and on those that
/// follow it in its group, round about.
class PeerCopies {
 public:
  PeerCopies(const MemoryCheckpoints& memory, const Allocation& where);

  /// Whether each part is left on one of the job's nodes when these are lost, others among them.
  bool survive(const std::vector<NodeId>& lost) const;

 private:
  MemoryCheckpoints memory_;
  std::vector<NodeId> nodes_;
  std::map<NodeId, std::size_t> places_;  ///< in nodes_
};

inline bool copies_survive(const MemoryCheckpoints& memory, const Allocation& where, const std::vector<NodeId>& lost) {
  return PeerCopies(memory, where).survive(lost);
}

}  // namespace athanor
