#pragma once

#include <cstdint>
#include <vector>

#include "models/jobs/failures/failure_rules.hpp"
#include "models/jobs/node_list.hpp"
#include "sim/random.hpp"

namespace athanor {

/// Who looks at nodes: checks that find what has failed or is slow, and the count of failures by which nodes are taken
/// out.
class NodeWatch {
 public:
  /// Borrows the rules.
  NodeWatch(const FailureRules& rules, const NodeList& nodes, std::uint64_t seed);

  /// When a check finds what a source has done to nodes just now: each at a multiple of their interval finds it with
  /// the same probability. max: none does.
  WallTime found(const FailureSource& source, WallTime now);

  /// A node has failed once more. True: that was once too often, and it is to be taken out.
  bool fails_too_often(NodeId node, WallTime now);
  /// When a node that is taken out comes back; max: it does not.
  WallTime back(WallTime now);

 private:
  const FailureRules& rules_;
  RandomStream draws_;
  RandomStream repairs_;
  IdVector<NodeId, std::vector<WallTime>> failures_;  ///< of late; empty without a cordon
};

}  // namespace athanor
