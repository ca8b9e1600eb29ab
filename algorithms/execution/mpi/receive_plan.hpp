#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "algorithms/proof/wiring.hpp"
#include "algorithms/schedule/schedule.hpp"

namespace athanor {

/// One receive on a connection.
struct PlannedReceive {
  std::uint64_t index = 0;  ///< of the primitive in its lane
  /// From so many ended primitives of the lane on, the message may be written straight into the primitive's store,
  /// whenever it comes; never: nothing.
  std::optional<std::uint64_t> straight_from;
};

/// All receives of one agent, connection by connection, and which of them need no slot: those whose value is what was
/// received and whose store nobody reads or writes any more before the primitive starts.
///
/// What other lanes do to the cells is ordered by waits of one lane for the other; what several waits order together is
/// not seen, and strided cells count as contiguous, so that some messages take a slot which need not.
class ReceivePlan {
 public:
  /// `finishes`: does finishing change the value (an average)? Requires primitives that check_primitives has passed.
  ReceivePlan(const Schedule& schedule, const Wiring& wiring, AgentId agent, bool finishes);

  /// In the order of their messages. Requires a connection to this agent.
  std::span<const PlannedReceive> receives(std::uint32_t connection) const {
    return receives_[connection - first_connection_];
  }

 private:
  std::uint32_t first_connection_ = 0;
  std::vector<std::vector<PlannedReceive>> receives_;
};

}  // namespace athanor
