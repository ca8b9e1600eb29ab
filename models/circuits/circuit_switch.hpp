#pragma once

#include <cstdint>

#include "sim/time.hpp"
#include "sim/units.hpp"

namespace athanor {

/// Optical circuit switches between ranks: each port of a rank sends to one port of another rank, until circuits are
/// changed, which none of them carries data through (RotorNet, SIGCOMM 2017; TopoOpt, NSDI 2023; Jouppi et al., TPU v4,
/// ISCA 2023).
struct CircuitSwitch {
  std::uint32_t ports = 1;  ///< of a rank, at least 1: circuits that it has at once, each way
  Bandwidth rate;           ///< of one circuit
  Time latency;             ///< from rank to rank
  Time delay;               ///< from the end of one set of circuits until the next one carries data
};

}  // namespace athanor
