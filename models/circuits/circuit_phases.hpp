#pragma once

#include <cstdint>
#include <vector>

#include "models/circuits/circuit_switch.hpp"
#include "models/circuits/message_rounds.hpp"

namespace athanor {

/// When circuits follow the rounds of a collective.
enum class CircuitChange : std::uint8_t {
  never,   ///< one set of circuits for all rounds
  rounds,  ///< a set for each round whose pairs differ from those before
  best,    ///< a set for each of the stretches of rounds that together take least time
};

/// A collective over circuits.
struct CircuitRun {
  Time time;                  ///< of one of many that follow each other
  Time changing;              ///< of it, while no circuit carries data
  std::uint64_t changes = 0;  ///< of the set of circuits
  std::uint64_t rounds = 0;
};

/// Rounds follow each other: each begins when all messages of the one before are there, and takes the latency and the
/// largest message over the circuits that it has. In a set each pair of ranks that exchange something has as many
/// circuits as the ports allow for all pairs alike: floor(ports / peers of the busiest rank), which a bipartite graph
/// always has (Koenig's theorem). Where a round alone has more peers than ports, it takes several sets, one after the
/// other. Collectives repeat: the first set has to be made anew unless it is the last one, too.
/// Throws SimulationError("too-few-ports") where circuits never change, and a rank has more peers than ports.
CircuitRun run_over_circuits(const MessageRounds& rounds, Bytes element, const CircuitSwitch& circuits,
                             CircuitChange change);

}  // namespace athanor
