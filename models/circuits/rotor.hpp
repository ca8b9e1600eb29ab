#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include "models/circuits/circuit_switch.hpp"

namespace athanor {

/// Rotor switches: one for each port of the ranks, each of which goes through its share of the matchings i -> i + k
/// (k = 1 ... ranks - 1: switch q has q + 1, q + 1 + ports, ...) whatever is to be sent (RotorNet, SIGCOMM 2017; Opera,
/// NSDI 2020).
struct Rotor {
  Time slot;  ///< of one matching, the delay at its beginning included; longer than it
  /// What a circuit would not use carries data for others to its other end, which sends them on when it is joined to
  /// theirs (Valiant's load balancing, as RotorLB).
  bool indirect = false;
};

/// By sender, then receiver, in bytes.
using CircuitDemand = std::vector<std::vector<std::int64_t>>;

struct RotorRun {
  Time time;                ///< until the last byte is there
  std::uint64_t slots = 0;  ///< that were begun
  double direct = 1;        ///< share of bytes that went straight to their receivers
};

/// Of a slot each circuit first carries what waits on its way to the other end, then what the rank itself has for it,
/// and with `indirect` what it has for others, as much for each as for all others. Data arrive after the latency.
/// Requires a square demand; throws SimulationError("slot-too-short") where a slot carries no byte, and Interrupted.
RotorRun run_rotor(const CircuitDemand& demand, const CircuitSwitch& circuits, const Rotor& rotor,
                   const std::stop_token& stop = {});

}  // namespace athanor
