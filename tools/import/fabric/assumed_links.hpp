#pragma once

#include <optional>

#include "sim/ratio.hpp"
#include "topologies/fabric/fabric.hpp"

namespace athanor {

/// What the user says about the links of a text that has no rates.
struct AssumedLinks {
  std::optional<Bandwidth> rate;  ///< of a host's link
  std::optional<Time> latency;    ///< of each link, the forwarding of the switch included
  Ratio oversubscription{1, 1};   ///< bandwidth to the hosts below a switch / bandwidth up from it
};

}  // namespace athanor
