#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "models/serving/iteration_law.hpp"
#include "models/serving/replica_engine.hpp"
#include "models/serving/served_request.hpp"

namespace athanor {

/// Which replica a request goes to when it arrives; there it stays.
enum class Balance : std::uint8_t {
  round_robin,  ///< one after the other
  least_load,   ///< one that has fewest requests that have not finished; of several the first
};

/// How keys and values come from one pool of replicas to the other.
struct KvTransferRules {
  std::uint32_t pieces =
      1;          ///< of layers, each sent when it is computed; 1: all when the prompt is; at most the layers
  Time overhead;  ///< from when there is room for them until the first is sent
  bool operator==(const KvTransferRules&) const = default;
};

/// Replicas that compute prompts, and first tokens, for others.
struct PrefillPool {
  std::uint32_t replicas = 1;
  EngineRules engine;
  KvTransferRules transfer = {};
};

struct ServingRules {
  std::uint32_t replicas = 1;  ///< that do all, or decode
  Balance balance = Balance::round_robin;
  EngineRules engine;
  std::optional<PrefillPool> prefill = {};  ///< none: every replica does all
};

/// Of keys and values of a request that moved from one pool to the other.
struct KvTransferTimes {
  Time begun;  ///< there is room, and the first of it is computed
  Time there;  ///< all of it; zero: the request has not moved
};

/// What became of all requests.
struct ServingRun {
  std::vector<ServedOutcome> outcomes;     ///< by request
  std::vector<EngineAccount> replicas;     ///< that did all, or decoded
  std::vector<EngineAccount> prefill;      ///< that prefilled for these
  std::vector<KvTransferTimes> transfers;  ///< by request; empty: there is one pool
  std::uint64_t kv_bytes = 0;              ///< that moved
  Time end;                                ///< the last request finishes
};

/// Serves all requests to their end, all of each on one replica. Requires that each fits (fits_engine), in the order of
/// their arrival, and no prefill pool: see simulate_pools(). Throws Interrupted where `stop` was asked for, and as the
/// law.
ServingRun simulate_serving(const ServedRequests& requests, const ServingRules& rules, const IterationLaw& law,
                            const std::stop_token& stop = {});

}  // namespace athanor
