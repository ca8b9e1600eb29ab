#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "algorithms/proof/replay.hpp"

namespace athanor {

/// In which round each primitive of a schedule is done, where one that sends takes one round and every other none, and
/// connections have slots without end.
class RoundClock {
 public:
  /// Borrows `wiring`.
  explicit RoundClock(const Wiring& wiring)
      : wiring_(wiring), ends_(wiring.lanes.size()), arrived_(wiring.receivers.size()) {}

  /// The round in which it ends, and what it sends arrives; 0: before the first. To be told of every primitive, in the
  /// order in which a Replay executes them.
  std::uint32_t round_of(const Execution& execution);

 private:
  const Wiring& wiring_;
  std::vector<std::vector<std::uint32_t>> ends_;    ///< of each lane's primitives
  std::vector<std::deque<std::uint32_t>> arrived_;  ///< rounds of messages that wait on each connection
};

}  // namespace athanor
