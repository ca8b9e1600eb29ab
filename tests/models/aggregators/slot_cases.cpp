#include "tests/models/aggregators/slot_cases.hpp"

#include "sim/error.hpp"
#include "topologies/generators.hpp"

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

SlotSettings slots_of(SlotPolicy policy, std::uint32_t slots) {
  SlotSettings settings;
  settings.policy = policy;
  settings.slots = slots;
  settings.payload = kPayload;
  settings.header = 100_B;
  return settings;
}

SlotJob job_on(const Cluster& cluster, std::uint32_t first, std::uint32_t workers, std::int64_t packets) {
  SlotJob job;
  for (std::uint32_t w = 0; w < workers; ++w) { job.workers.push_back(cluster.endpoints.at(first + w)); }
  if (first + workers < cluster.endpoints.size()) { job.server = cluster.endpoints.at(first + workers); }
  job.bytes = kPayload * packets;
  return job;
}

SlotResult run(const Cluster& cluster, const std::vector<SlotJob>& jobs, const SlotSettings& settings,
               NetworkLevel level, std::uint64_t seed) {
  NetworkOptions options;
  options.level = level;
  return run_slots(cluster, jobs, settings, seed, options);
}

std::string refusal_of(const Cluster& cluster, const std::vector<SlotJob>& jobs, const SlotSettings& settings) {
  try {
    run(cluster, jobs, settings);
  } catch (const SimulationError& error) { return error.code(); }
  return "";
}

}  // namespace athanor::testing
