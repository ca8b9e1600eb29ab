#include "tests/models/aggregators/aggregation_cases.hpp"

#include "sim/error.hpp"
#include "tests/topologies/clusters.hpp"
#include "topologies/cluster.hpp"

namespace athanor::testing {

using namespace athanor::literals;

Cluster one_rack(std::uint32_t count) { return star(hosts(count), {10_GBps, 10_GBps, kCable, Time::zero()}); }

Cluster racks_of_four(std::uint32_t racks) {
  ClosSpec spec;
  spec.tiers = racks > 8 ? 3 : 2;
  spec.radix = 8;
  spec.host_cable = spec.up_cable = spec.core_cable = {10_GBps, 10_GBps, kCable, Time::zero()};
  return fat_tree(hosts(4 * racks), spec, {.routing = Routing::ecmp});
}

AggregatorSettings slots_of(AggregatorPolicy policy, std::uint32_t slots) {
  AggregatorSettings settings;
  settings.policy = policy;
  settings.slots = slots;
  settings.payload = kPayload;
  settings.header = 100_B;
  return settings;
}

AggregationJob job_on(const Cluster& cluster, std::uint32_t first, std::uint32_t workers, std::int64_t packets) {
  AggregationJob job;
  for (std::uint32_t w = 0; w < workers; ++w) { job.workers.push_back(cluster.endpoints.at(first + w)); }
  if (first + workers < cluster.endpoints.size()) { job.server = cluster.endpoints.at(first + workers); }
  job.bytes = kPayload * packets;
  return job;
}

AggregationResult run(const Cluster& cluster, const std::vector<AggregationJob>& jobs,
                      const AggregatorSettings& settings, NetworkLevel level, std::uint64_t seed) {
  NetworkOptions options;
  options.level = level;
  return run_aggregation(cluster, jobs, settings, seed, options);
}

std::string refusal_of(const Cluster& cluster, const std::vector<AggregationJob>& jobs,
                       const AggregatorSettings& settings) {
  try {
    run(cluster, jobs, settings);
  } catch (const SimulationError& error) { return error.code(); }
  return "";
}

}  // namespace athanor::testing
