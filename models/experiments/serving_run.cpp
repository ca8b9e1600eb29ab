#include "models/experiments/serving_run.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "models/experiments/workload.hpp"
#include "models/serving/serving_effort.hpp"
#include "models/serving/simulate_pools.hpp"
#include "models/workload/work_of_workload.hpp"
#include "sim/error.hpp"
#include "sim/format.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

/// Replicas of a pool.
struct ReplicaPool {
  std::uint32_t first = 0;  ///< endpoint
  std::uint32_t replicas = 1;
  ServedModel served;
  EngineRules engine;
};

/// All replicas call at the same time, each among its own GPUs, which follow each other in rank order.
Workload calls_of(const ReplicaPool& pool) {
  EndpointGroups groups(pool.replicas);
  std::uint32_t next = pool.first;
  for (std::vector<std::uint32_t>& group : groups) {
    for (std::uint32_t i = 0; i < pool.served.tensor; ++i) { group.push_back(next++); }
  }
  Workload workload;
  workload.communicators.push_back(
      {"tensor", Parallelism::tensor, {0}, std::make_shared<const EndpointGroups>(std::move(groups))});
  return workload;
}

Workload::Call call_of(CollectiveKind kind, Bytes size) {
  return {.communicator = 0, .kind = kind, .size = size, .type = DataType::bfloat16};
}

/// All replicas call alike, so that errors name none of them.
Time time_of_call(CollectiveTimer& timer, const Workload& calls, CollectiveKind kind, Bytes size) {
  try {
    return timer.time(calls, call_of(kind, size));
  } catch (const SimulationError& error) {
    std::string_view what = error.what();
    if (what.starts_with("job ")) { what.remove_prefix(what.find(": ") + 2); }
    throw SimulationError(error.code(),
                          fmt::format("{} of {} among the GPUs of a replica: {}", name(kind), to_string(size), what));
  }
}

/// What may be asked for: all points of the grid up to what the engine's rules allow.
void add_all_calls(const ReplicaPool& pool, Workload& workload) {
  const auto add = [&](CollectiveKind kind, std::uint32_t most, Bytes of_one) {
    for (std::uint32_t n = 1, below = 0; below < most; below = n, n = grid_place(n + 1).above) {
      workload.calls.push_back(call_of(kind, of_one * n));
    }
  };
  add(CollectiveKind::all_reduce, pool.engine.max_batched_tokens, all_reduce_size(pool.served, 1));
  add(CollectiveKind::all_gather, pool.engine.max_running, all_gather_size(pool.served, 1));
}

IterationLaw law_of(const Serving& serving, const ReplicaPool& pool, CollectiveTimer& timer) {
  IterationParts parts = serving.parts;
  parts.served = pool.served;
  const auto calls = std::make_shared<const Workload>(calls_of(pool));
  parts.call = [&timer, calls](CollectiveKind kind, Bytes size) { return time_of_call(timer, *calls, kind, size); };
  return iteration_law(std::move(parts));
}

/// Of one division of pools.
ServingRules rules_of(const Serving& serving, const PoolDivision& division) {
  ServingRules rules = serving.rules;
  rules.replicas = division.decode;
  rules.prefill->replicas = division.prefill;
  return rules;
}

/// Those that decode, or do all; then those that prefill, whose GPUs come first.
std::vector<ReplicaPool> pools_of(const Serving& serving, const ServingRules& rules) {
  if (!rules.prefill) { return {{0, rules.replicas, serving.parts.served, rules.engine}}; }
  const std::uint32_t decode_begins = rules.prefill->replicas * serving.prefill_tensor;
  return {{decode_begins, rules.replicas, serving.parts.served, rules.engine},
          {0, rules.prefill->replicas, serving.prefilled(), rules.prefill->engine}};
}

ServingResult simulate_one(const Serving& serving, const ServingRules& rules, const ServedRequests& requests,
                           CollectiveTimer& timer, const Run& run) {
  const std::vector<ReplicaPool> pools = pools_of(serving, rules);
  const IterationLaw law = law_of(serving, pools.front(), timer);
  ServingResult result{rules, {}};
  if (!rules.prefill) {
    const ServingRun done = simulate_serving(requests, rules, law, run.options.stop);
    result.summary = summary_of(done, requests, rules, serving.limits);
    return result;
  }
  const SimulationOptions options = simulation_options(run.platform, run.options);
  const ServingRun done = simulate_pools(
      requests, rules, law_of(serving, pools.back(), timer), law,
      {*run.platform.cluster, options, run.platform.seed, pools.back().served, pools.front().served.tensor},
      run.options.stop);
  result.summary = summary_of(done, requests, rules, serving.limits);
  return result;
}

bool is_better(const ServingSummary& one, const ServingSummary& other) {
  const double share = one.within_limits.value_or(0) - other.within_limits.value_or(0);
  return share > 0 || (share == 0 && one.latency.mean < other.latency.mean);
}

/// By what was measured of a request of one token (0.4 us), and steps of one request (27 ns) and of 256 (3 us).
double operations_of(const RequestMeans& means, const ServingEffort& effort) {
  return means.count * 0.4 + effort.steps * 0.02 + effort.places * 0.012;
}

/// Messages between pools, and what wakes engines that wait for them.
void add_transfers(const Serving& serving, const RequestMeans& means, const ServingRules& rules,
                   const NetworkSettings& network, WorkCount& work) {
  constexpr double kWakes = 4;  // of engines, for each request
  const auto shares = static_cast<double>(kv_shares(serving.prefilled(), serving.parts.served.tensor).size());
  const double messages = means.count * shares * rules.prefill->transfer.pieces;
  work[Work::message] += messages;
  work[Work::reshared] += messages;
  work[Work::connection] += static_cast<double>(rules.prefill->replicas) * rules.replicas * shares;
  work[Work::operation] += kWakes * means.count;
  work.bytes += means.count * static_cast<double>(sizeof(KvTransferTimes));
  if (network.level != NetworkLevel::packet) { return; }
  constexpr double kLinks = 4;  // of a path
  const double bytes = means.count * means.prompt * kept_bytes(serving.prefilled()) * serving.prefill_tensor;
  const TransportSpec& transport = network.packet.transport;
  add_hops(bytes / static_cast<double>(transport.payload.count()) * kLinks * (1 + 1.0 / transport.acknowledge_every), 0,
           work);
}

WorkCount work_of_one(const Serving& serving, const ServingRules& rules, const WorkloadNccl& nccl,
                      const Platform& platform, const RunOptions& options) {
  WorkCount work;
  const RequestMeans means = serving.recorded ? means_of(*serving.recorded) : means_of(serving.drawn);
  for (const ReplicaPool& pool : pools_of(serving, rules)) {
    if (pool.served.tensor > 1) {
      Workload workload = calls_of(pool);
      add_all_calls(pool, workload);
      work += work_of(workload, pricing_of(nccl, platform, options));
    }
    IterationParts parts = serving.parts;
    parts.served = pool.served;
    parts.call = [](CollectiveKind, Bytes) { return Time::zero(); };
    const ServingRules alone{.replicas = pool.replicas, .engine = pool.engine};
    work[Work::operation] += operations_of(means, effort_of(means, alone, iteration_law(std::move(parts))));
  }
  if (rules.prefill) { add_transfers(serving, means, rules, platform.network, work); }
  work.bytes += means.count * static_cast<double>(sizeof(ServedRequest) + sizeof(ServedOutcome) + 4 * sizeof(Time));
  return work;
}

}  // namespace

ServingResult simulate(const Serving& serving, const ServedRequests& requests, CollectiveTimer& timer, const Run& run) {
  if (serving.divisions.empty()) { return simulate_one(serving, serving.rules, requests, timer, run); }
  std::optional<ServingResult> best;
  std::vector<std::string> searched;
  for (const PoolDivision& division : serving.divisions) {
    ServingResult result = simulate_one(serving, rules_of(serving, division), requests, timer, run);
    searched.push_back(fmt::format("{} that prefill and {} that decode {:.1f} %", division.prefill, division.decode,
                                   100 * result.summary.within_limits.value_or(0)));
    if (!best || is_better(result.summary, best->summary)) { best = std::move(result); }
  }
  best->searched = std::move(searched);
  return std::move(*best);
}

WorkCount work_of(const Serving& serving, const WorkloadNccl& nccl, const Platform& platform,
                  const RunOptions& options) {
  if (serving.divisions.empty()) { return work_of_one(serving, serving.rules, nccl, platform, options); }
  WorkCount work;
  for (const PoolDivision& division : serving.divisions) {
    work += work_of_one(serving, rules_of(serving, division), nccl, platform, options);
  }
  return work;
}

std::optional<RequestObstacle> obstacle_of(const ServedRequest& request, const ServingRules& rules) {
  const std::string what =
      fmt::format("of {} tokens and {} more that are generated, keeps", request.prompt, request.output);
  const auto obstacle = [&](const EngineRules& engine, EngineRole role,
                            std::string_view whose) -> std::optional<RequestObstacle> {
    if (fits_engine(request, engine, role)) { return std::nullopt; }
    const std::uint64_t kept = role == EngineRole::prefill ? request.prompt : request.most_kept();
    const std::uint64_t room = engine.pages * engine.page;
    if (kept > room) {
      return RequestObstacle{
          fmt::format("{} {} tokens, and the KV cache of a replica{} has pages for {}", what, kept, whose, room),
          "share the model among more GPUs (\"tensor\")"};
    }
    return RequestObstacle{
        fmt::format("{} {} tokens, and without chunked prefill an iteration{} has at most {}", what, kept, whose,
                    engine.max_batched_tokens),
        fmt::format("write \"max_batched_tokens\": {}, or allow chunks (\"chunked_prefill\": true)", kept)};
  };
  if (!rules.prefill) { return obstacle(rules.engine, EngineRole::whole, ""); }
  const auto first = obstacle(rules.prefill->engine, EngineRole::prefill, " that prefills");
  return first ? first : obstacle(rules.engine, EngineRole::decode, " that decodes");
}

std::optional<RequestObstacle> first_obstacle(const ServedRequests& requests, const ServingRules& rules) {
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (auto obstacle = obstacle_of(requests[i], rules)) {
      obstacle->message = fmt::format("request {}, {}", i, obstacle->message);
      return obstacle;
    }
  }
  return std::nullopt;
}

}  // namespace athanor
