#pragma once

#include "models/serving/kv_network.hpp"
#include "models/serving/simulate_serving.hpp"

namespace athanor {

/// What carries keys and values from one pool to the other.
struct PoolFabric {
  const Cluster& cluster;
  const NetworkOptions& options;
  std::uint64_t seed = 1;
  const ServedModel& prefilled;  ///< as replicas that prefill have it
  std::uint32_t decode_tensor = 1;
};

/// Prefill and decode on replicas of their own (Zhong et al., DistServe, OSDI 2024; Patel et al., Splitwise, ISCA 2024;
/// Qin et al., Mooncake, FAST 2025). A request goes to a replica that prefills, and gets its first token there. If more
/// follow, it then goes to a replica that decodes, waits there in the queue of what comes, and when an iteration begins
/// and there are pages for its prompt and the token behind it, takes these; then its keys and values are sent over the
/// fabric, share by share (kv_shares). When all are there it comes to run with the next iteration, and the pages where
/// it was prefilled are free.
///
/// In several `pieces` of layers the replica that decodes is chosen when the iteration begins that computes the last
/// tokens of the prompt, whose layers take equally long; each piece is sent as soon as its last layer is computed, of
/// all tokens of the prompt, and there are pages. One that was preempted where it decodes computes its prompt again
/// there.
///
/// Requires rules with a prefill pool, and requests that fit both engines. Throws Interrupted, as the laws, as
/// KvNetwork, and SimulationError("undelivered") where a network never delivers.
ServingRun simulate_pools(const ServedRequests& requests, const ServingRules& rules, const IterationLaw& prefill,
                          const IterationLaw& decode, const PoolFabric& fabric, const std::stop_token& stop = {});

}  // namespace athanor
