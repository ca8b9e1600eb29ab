#pragma once

#include <cstddef>
#include <optional>

#include "models/traffic/simulate_traffic.hpp"

namespace athanor {

/// How long the messages of a matrix took. Percentiles are times that occurred (nearest rank).
struct CompletionTimes {
  Time mean;  ///< rounded down
  Time median;
  Time p99;
  Time longest;
  double mean_slowdown = 1;  ///< time / time alone
  double p99_slowdown = 1;
};

struct TrafficSummary {
  std::size_t messages = 0;
  Bytes bytes;         ///< of all messages
  Time time;           ///< of the last delivery
  double goodput = 0;  ///< payload, bytes per second: of all messages over `time`, or the sum of rates in the window
  double throughput_ratio = 0;  ///< mean over messages of (time alone / time), or over connections of the rate in the
                                ///< window by the rate alone
  double least_throughput_ratio = 0;          ///< of any message or connection
  double fairness = 0;                        ///< Jain's index of the same: (sum x)^2 / (n sum x^2); 1: all are equal
  std::optional<CompletionTimes> completion;  ///< not in a window: messages wait for each other there
};

/// Requires at least one message.
TrafficSummary summary_of(const SimulatedTraffic& traffic);

}  // namespace athanor
