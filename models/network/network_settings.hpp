#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string_view>

#include "models/network/packet/packet_settings.hpp"
#include "sim/units.hpp"

namespace athanor {

enum class NetworkLevel : std::uint8_t {
  ideal,   ///< latency and the slowest link of a path; no contention
  flow,    ///< max-min fair sharing of every link
  packet,  ///< queues, marks, pauses and losses of single packets
};

std::string_view name(NetworkLevel level);

constexpr std::uint32_t kMostQueuePairs = 128;  ///< of a connection

/// How data travels, as the "network" of a scenario says it: passed whole to whatever simulates a network. A new key is
/// a member here, a line in the visit, and what FabricNetwork makes of it.
struct NetworkSettings {
  NetworkLevel level = NetworkLevel::flow;
  PacketSettings packet;  ///< at packet level
  /// Of every connection, each with a path of its own; means nothing at level ideal. Absent: 1, or as NCCL is told.
  std::optional<std::uint32_t> queue_pairs = {};
  std::optional<Bandwidth> flow_rate = {};  ///< most that one queue pair carries over the network; absent: no limit

  /// Most error of a time that leaving out what has settled may cause: packets of flows whose rates have settled
  /// (FastForward), steps of lanes that have kept one pace (StepRepetition), small changes of rates (the leeway of
  /// MaxMinShares); 0: nothing is left out but what is exact.
  Ratio skip_error{0, 1};

  /// 1 at level ideal, where several would differ by their flow rate alone.
  std::uint32_t pairs_of_connections() const {
    return level == NetworkLevel::ideal && !flow_rate ? 1 : queue_pairs.value_or(1);
  }
};
void visit(Fields& fields, NetworkSettings& settings);

/// Why a network is simulated on one thread, however many are offered, in words that follow "on one thread: "; "": it
/// is not.
std::string_view threads_hindrance(const NetworkSettings& settings);

/// How a network is simulated, and what is counted.
struct NetworkOptions : NetworkSettings {
  bool count_ports = false;   ///< NetworkUse::ports
  std::uint32_t threads = 1;  ///< at packet level, at most: see threads_hindrance(); changes no result
  bool each_link = false;     ///< NetworkUse::loads has every link, not one of each class
  std::stop_token stop = {};  ///< of the Simulator
};

}  // namespace athanor
