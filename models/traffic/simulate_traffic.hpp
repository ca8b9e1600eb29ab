#pragma once

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

}  // namespace athanor
