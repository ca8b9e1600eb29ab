#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/software/thread_costs.hpp"
#include "sim/time.hpp"
#include "tools/calibrate/probes.hpp"

namespace athanor {

struct StopwatchSettings {
  std::uint32_t rounds = 5;              ///< every probe has its turn in each: a slow moment spoils one turn
  Time patience = Time{10'000'000'000};  ///< about so long for a probe in a round, after a warm-up
  std::function<void(std::size_t)> turn = [](std::size_t) {};  ///< told before each turn how many there have been
};

/// How long each probe takes on the threads executor of this machine: the median of all its iterations. Throws
/// SimulationError where an execution fails.
std::vector<Time> measure(const std::vector<Probe>& probes, const StopwatchSettings& settings);

/// How long the model says that it takes, once caches hold what they hold after several iterations.
Time simulate(const Probe& probe, const ThreadCosts& costs);

}  // namespace athanor
