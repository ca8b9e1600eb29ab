#pragma once

#include <cstdint>
#include <vector>

#include "models/jobs/failures/failure_rules.hpp"
#include "models/jobs/node_list.hpp"
#include "sim/event_queue.hpp"
#include "sim/random.hpp"

namespace athanor {

/// Who looks at nodes: checks that find what has failed or is slow, or nothing that is there, and the count of failures
/// by which nodes are taken out.
class NodeWatch {
 public:
  /// Borrows the rules.
  NodeWatch(const FailureRules& rules, const NodeList& nodes, std::uint64_t seed);

  /// When a check finds what a source has done to nodes just now: each at a multiple of their interval finds it with
  /// the same probability. max: none does.
  WallTime found(const FailureSource& source, WallTime now);

  /// When a check next takes some node for one that is not well; max: none does.
  WallTime next_alarm() const { return alarms_.empty() ? WallTime::max() : alarms_.top().when; }
  /// Takes that one. Requires one.
  NodeId take_alarm();
  /// How long a node is repaired for that.
  WallTime repair_of_alarm() { return rules_.checks->false_alarms->repair.draw(alarm_repairs_); }

  /// A node has failed once more. True: that was once too often, and it is to be taken out.
  bool fails_too_often(NodeId node, WallTime now);
  /// When a node that is taken out comes back; max: it does not.
  WallTime back(WallTime now);

 private:
  void expect_alarm(NodeId node, WallTime now);

  const FailureRules& rules_;
  RandomStream draws_;
  RandomStream repairs_;
  RandomStream alarm_draws_;
  RandomStream alarm_repairs_;
  EventQueueOf<WallTime> alarms_;  ///< of each node the next one
  std::uint64_t orders_ = 0;
  IdVector<NodeId, std::vector<WallTime>> failures_;  ///< of late; empty without a cordon
};

}  // namespace athanor
