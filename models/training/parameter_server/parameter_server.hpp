#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "models/network/fabric_network.hpp"
#include "sim/random.hpp"
#include "sim/ratio.hpp"
#include "sim/time.hpp"

namespace athanor {

/// How long a worker computes between two exchanges, drawn anew each time. Integers alone decide what is drawn, so that
/// it is equal everywhere.
struct ComputeTime {
  enum class Kind : std::uint8_t {
    constant,
    normal,       ///< the sum of twelve uniform numbers, which ends six deviations from the mean; never below 0
    exponential,  ///< `least`, and beyond it exponential
    pareto,       ///< a tail that falls as a power: P(longer than x) = (least / x)^shape
  };
  Kind kind = Kind::constant;
  Time mean = {};
  Time deviation = {};  ///< standard deviation (normal)
  Time least = {};      ///< at most the mean (exponential)
  Ratio shape{2, 1};    ///< greater than 1; the mean decides what is least (pareto)
  bool operator==(const ComputeTime&) const = default;
};

/// Times of pareto end at 2^30 times the least.
Time draw(const ComputeTime& time, RandomStream& stream);

/// -log2(bits / 2^64), of bits | 1, with 32 binary digits behind the point, rounded up by less than the last of them.
std::uint64_t minus_log2(std::uint64_t bits);

/// 2^(exponent / 2^32) x value, rounded down, but for the last few units of 2^-55 of it. Requires value >= 0 and an
/// exponent below 31 x 2^32. Throws SimulationError("time-overflow").
Time times_power_of_two(Time value, std::uint64_t exponent);

/// Training with parameters on servers: each worker gets them, computes, and sends its gradients, over and over. A
/// server has a part of the parameters (a shard); several may hold copies of it.
struct ParameterServerSetup {
  enum class Update : std::uint8_t {
    /// A step ends when enough gradients of it have come: what workers compute next is with all of them.
    synchronous,
    asynchronous,  ///< each gradient changes the parameters when it comes, and its worker goes on at once
    stale,         ///< asynchronous, but nobody begins an iteration when another has begun `bound` + 1 fewer
  };
  enum class Replication : std::uint8_t {
    chain,       ///< each copy passes the change on, and the last one acknowledges it
    all_to_all,  ///< the first copy sends it to all others, and each acknowledges it
  };
  struct Straggler {
    std::uint32_t worker = 0;
    Ratio factor{1, 1};  ///< of what is drawn
    bool operator==(const Straggler&) const = default;
  };

  /// The copy of a shard that workers talk to fails, once. What is on its way to and from it is lost, and workers that
  /// have no answer then wait. After `detection` the next copy has taken its place: workers send again what is not yet
  /// on that copy, which brings to the others what is. Nothing that a worker got an answer to is lost, since
  /// answers wait for all copies (primary and backups; chain replication: van Renesse and Schneider, OSDI 2004).
  struct Failure {
    std::uint32_t shard = 0;  ///< of at least two copies
    Time at = {};             ///< since the beginning
    Time detection = {};
    bool operator==(const Failure&) const = default;
  };

  std::vector<std::uint32_t> workers;              ///< endpoints
  std::vector<std::vector<std::uint32_t>> shards;  ///< endpoints of the copies of each; workers talk to the first
  Update update = Update::synchronous;
  std::uint32_t backup_workers = 0;  ///< synchronous: so many gradients of each step are not waited for; below workers
  std::uint32_t bound = 0;           ///< stale
  Replication replication = Replication::chain;
  ComputeTime compute;
  std::vector<Straggler> stragglers;
  std::optional<Failure> failure{};
  Bytes parameters;                         ///< of the model, split evenly among shards
  Ratio gradient{1, 1};                     ///< bytes of gradients for each byte of parameters
  Bandwidth apply_rate = Bandwidth::max();  ///< gradients that a server adds to its shard, one after the other
  std::uint32_t warm_up = 10;               ///< steps that are not measured; at least 1
  std::uint32_t steps = 100;                ///< that are; asynchronous and stale: as many gradients as workers each
};

std::string_view name(ParameterServerSetup::Update update);

/// What the measured steps were like.
struct ParameterServerResult {
  Time time;                             ///< that they took
  std::uint64_t updates = 0;             ///< of the parameters: steps, or single gradients
  std::uint64_t gradients = 0;           ///< that were used; of several shards the parts over the shards
  std::uint64_t dropped = 0;             ///< likewise: came too late
  std::vector<Time> iterations;          ///< of workers, each from the parameters' arrival to the next one; ascending
  double waiting = 0;                    ///< the share of iterations in which nothing was computed
  std::vector<std::uint64_t> staleness;  ///< parts of gradients by the updates between parameters and gradient
  std::optional<Time> outage{};          ///< from the failure to the next update of its shard; none: it did not come
  std::uint64_t resent = 0;              ///< parts of gradients that workers had to send again
  double server_busy = 0;                ///< share of the time that the busiest server applied gradients
  Time end;                              ///< of everything, with what came before and after
  NetworkUse network;
  std::uint64_t events = 0;

  double updates_per_second() const { return static_cast<double>(updates) / seconds(time); }
  double gradients_per_second() const { return static_cast<double>(gradients) / seconds(time); }
  Time mean_iteration() const;
  Time p95_iteration() const;  ///< nearest rank
};

/// Simulates until the steps are done. A worker's gradient is its request for parameters as well. Software costs
/// nothing but what the setup says, and copies within an endpoint take no time. All shards' gradients of a step count
/// where backup workers let it end: parameters are given out when the last shard has its gradients. `seed`: of
/// routing's choices and of what is drawn; each worker draws from a stream of its own. Requires workers and shards of
/// equally many copies on endpoints of the cluster. Throws SimulationError: "no-route", "time-overflow"; at packet
/// level also as packet_topology() does.
ParameterServerResult simulate_parameter_server(const ParameterServerSetup& setup, const Cluster& cluster,
                                                std::uint64_t seed, const NetworkOptions& options);

}  // namespace athanor
