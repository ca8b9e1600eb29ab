#pragma once

#include <optional>

#include "sim/config/fields.hpp"
#include "sim/ratio.hpp"
#include "sim/units.hpp"

namespace athanor {

/// What one hop of a message costs in software, by where it goes.
struct HopCost {
  Time latency;                       ///< per message, pipelined
  Bandwidth rate = Bandwidth::max();  ///< payload rate of one channel; max: only links limit
  Ratio efficiency{1, 1};             ///< of the links' usable rate that is reached: headers, and what software wastes
  Bandwidth injection_rate =
      Bandwidth::max();  ///< payload rate of the sender itself, for SendEnd::paced; max: done at once
  std::optional<Bytes> grain = std::nullopt;  ///< in place of the protocol's: 0 where a host passes on whole messages
};

void visit(Fields& fields, HopCost& hop);

}  // namespace athanor
