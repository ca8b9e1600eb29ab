#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/engines/engine_limits.hpp"
#include "models/network/fabric_network.hpp"
#include "topologies/fabric.hpp"

namespace athanor {

struct Cluster;

/// An all-reduce of one vector over workers.
struct AggregationJob {
  std::vector<VertexId> workers;   ///< each on an endpoint of its own
  std::optional<VertexId> server;  ///< best_effort: of parameters; another endpoint
  Bytes bytes;                     ///< of the vector, above zero
  Time start;
};

struct AggregationResult {
  std::vector<AggregationJobResult> jobs;
  NetworkUse network;       ///< with headers and repetitions
  Time time;                ///< when all jobs had ended
  std::uint64_t moved = 0;  ///< packets, each as often as it went from one that handles it to another
  std::uint64_t events = 0;
};

/// Runs jobs at the same time on one cluster, packet by packet, over one of the levels of network: a packet is a
/// message, with its header, from one that handles it to the next: workers, the switches that add up, servers. At
/// packet level the transport adds no header of its own to it and repeats what the network loses; of `options` queue
/// pairs mean nothing here.
///
/// static_pool adds up along the tree that build_aggregation_tree gives, as many levels as it has. best_effort adds up
/// in the switch next to each worker, then in the one next to the server; of those that `engines` has.
///
/// What is lost depends on `seed`, the packet, its way and how often it went there, not on what else happens.
///
/// Throws SimulationError: "slots" for settings or jobs that cannot be (what to change is in the text), "no-server",
/// "too-many-workers" above 64 of one job with best_effort, "timeout-too-short" where it is less than the round trip
/// without waiting, "given-up" where a packet was sent most_tries times; as build_aggregation_tree() and, at packet
/// level, packet_topology(); "no-route", "time-overflow".
AggregationResult run_aggregation(const Cluster& cluster, const std::vector<AggregationJob>& jobs,
                                  const AggregatorSettings& settings, std::uint64_t seed,
                                  const NetworkOptions& options);

}  // namespace athanor
