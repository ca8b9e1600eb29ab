#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/proof/wiring.hpp"
#include "algorithms/schedule/schedule.hpp"

namespace athanor {

/// Which messages need no copy. A message may refer to the sender's cells where these hold the value and nothing
/// overwrites them after the primitive: an input that does not lie in the output, or cells that get their last value.
/// What nothing overwrites may be read until the schedule has ended.
///
/// Found by looking at all stores of an agent. Stores by other lanes count as later, and strided ones as contiguous
/// from their first to their last cell; so some messages are copied that need not be.
class References {
 public:
  enum class Origin : std::uint8_t { copy, operand, store };

  /// `finishes`: does finishing change the value (an average)? Without `may_refer` all messages are copied. Requires
  /// primitives that check_primitives has passed.
  References(const Schedule& schedule, const Wiring& wiring, bool finishes, bool may_refer);

  /// What the messages of a lane's primitive may refer to.
  Origin origin(std::uint32_t lane, std::uint64_t index) const { return origins_[first_[lane] + index]; }
  /// The longest message on a connection that refers to nothing.
  Elements copied(std::uint32_t connection) const { return copied_[connection]; }

 private:
  std::vector<std::uint64_t> first_;  ///< of each lane in origins_
  std::vector<Origin> origins_;
  std::vector<Elements> copied_;
};

}  // namespace athanor
