#pragma once

#include <cstdint>
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

struct ServingRules {
  std::uint32_t replicas = 1;
  Balance balance = Balance::round_robin;
  EngineRules engine;
};

/// What became of all requests.
struct ServingRun {
  std::vector<ServedOutcome> outcomes;  ///< by request
  std::vector<EngineAccount> replicas;
  Time end;  ///< the last request finishes
};

/// Serves all requests to their end. Requires that each fits (fits_engine), in the order of their arrival. Throws
/// Interrupted where `stop` was asked for, and as the law.
ServingRun simulate_serving(const ServedRequests& requests, const ServingRules& rules, const IterationLaw& law,
                            const std::stop_token& stop = {});

}  // namespace athanor
