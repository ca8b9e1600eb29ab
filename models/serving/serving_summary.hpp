#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/serving/simulate_serving.hpp"

namespace athanor {

/// Times of requests, in seconds; percentiles by nearest rank.
struct TimeSpread {
  double mean = 0;
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
};

/// Sorts them. All 0 of none.
TimeSpread spread_of(std::vector<Time> times);

/// What a request may take, to count for goodput.
struct ServingLimits {
  std::optional<Time> ttft = {};
  std::optional<Time> tpot = {};
  bool operator==(const ServingLimits&) const = default;
};

/// Of two pools of replicas.
struct PoolsSummary {
  double prefill_busy = 0;  ///< share of the time that replicas which prefill run iterations
  double decode_busy = 0;
  double prefill_kv_most = 0;  ///< share of pages that were taken or held at once, of the fullest that prefills
  TimeSpread kv_transfer;      ///< of what is kept of a request: from when there is room for it until all is there
  TimeSpread kv_wait;          ///< from the first token until all is there, waiting for pages included
  double kv_bytes = 0;         ///< that moved
};

/// How requests were served, from the first arrival to the end of the last.
struct ServingSummary {
  std::uint64_t requests = 0;
  double seconds = 0;
  TimeSpread ttft;  ///< time to first token: from arrival to the end of the iteration that generates it
  /// Time per output token after the first: (last - first) / (output - 1), of requests with two; none: no such.
  std::optional<TimeSpread> tpot = {};
  TimeSpread latency;       ///< from arrival to the last token
  TimeSpread queue;         ///< from arrival to the first iteration with tokens of it
  double prompt_per_s = 0;  ///< tokens of prompts, each counted once
  double output_per_s = 0;  ///< tokens
  double requests_per_s = 0;
  std::optional<double> within_limits = {};  ///< share of requests; none: there are no limits
  double busy = 0;                           ///< share of the time that replicas run iterations
  double running = 0;  ///< requests in an iteration, on average over the time that replicas are busy; of two pools,
                       ///< where they decode
  double kv_mean = 0;  ///< share of kept tokens that there is room for, likewise
  double kv_most = 0;  ///< share of pages that were taken at once, of the fullest replica, likewise
  std::uint64_t iterations = 0;
  std::uint64_t preemptions = 0;
  std::optional<PoolsSummary> pools = {};
};

/// Requires a run of these requests and rules; at least one request.
ServingSummary summary_of(const ServingRun& run, const ServedRequests& requests, const ServingRules& rules,
                          const ServingLimits& limits);

}  // namespace athanor
