#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/network/fabric_network.hpp"
#include "models/traffic/traffic_matrix.hpp"

namespace athanor {

/// One message from its start to the delivery of its last byte.
struct MessageTimes {
  std::uint32_t connection = 0;  ///< of the matrix
  Bytes size;
  Time start;
  Time end;
  Time alone;  ///< least time that it takes on its own paths where nothing else moves: latency, and the payload over
               ///< the usable rate of the link that limits it
};

/// A matrix, simulated until everything has been delivered.
struct SimulatedTraffic {
  std::vector<MessageTimes> messages;  ///< in the order in which they were handed to the network
  /// By connection: the share of the payload rate that it has alone, in the matrix's window; else empty. A message
  /// that was delivered within the window counts by the part of its time (since the delivery before it) in the window.
  std::vector<double> throughput_ratios;
  std::vector<double> rates;  ///< bytes per second of payload; beside `throughput_ratio`
  Time time;                  ///< of the last delivery
  NetworkUse network;
  std::uint64_t events = 0;
};

/// Moves a matrix over a cluster; endpoint e is cluster.endpoints[e]. Software costs nothing. `seed`: of routing's
/// choices among equal paths.
/// Requires endpoints that exist, and a matrix of which every message starts.
/// Throws SimulationError: "no-route", "undelivered" naming a message, "time-overflow"; at packet level also as
/// packet_topology() does.
SimulatedTraffic simulate_traffic(const TrafficMatrix& matrix, const Cluster& cluster, std::uint64_t seed,
                                  const NetworkOptions& options);

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
