#include "models/aggregators/run_aggregation.hpp"

#include <algorithm>
#include <memory>

#include <fmt/core.h>

#include "models/aggregators/atp_pool.hpp"
#include "models/aggregators/switchml_pool.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

constexpr std::uint32_t kMostPackets = 1U << 30U;  ///< of one job: numbers of packets and of windows beyond them fit

[[noreturn]] void refuse(const std::string& why) { throw SimulationError("slots", why); }

void check(const AggregatorSettings& settings) {
  if (settings.payload <= Bytes::zero() || settings.header < Bytes::zero()) {
    refuse("packets need a payload above 0, and headers have no negative size");
  }
  if (settings.payload > Bytes{1 << 20} || settings.header > Bytes{1 << 20}) { refuse("packets have at most 1 MiB"); }
  if (settings.loss.numerator < 0 || settings.loss >= Ratio{1, 1}) {
    refuse(
        fmt::format("a loss of {} leaves nothing to arrive: it is at least 0 and below 1", to_double(settings.loss)));
  }
  if (settings.slots > SendWindow::kMost || settings.window > SendWindow::kMost) {
    refuse(fmt::format("there are at most {} slots, and as many packets in a window", SendWindow::kMost));
  }
  if (settings.port_rate <= Bandwidth::zero()) { refuse("a port that takes in nothing ends nothing"); }
  const Time least = std::min({settings.pipeline_latency, settings.host_latency, settings.host_packet_time});
  if (least < Time::zero()) { refuse("latencies are not negative"); }
  if (settings.most_tries == 0) { refuse("a packet is sent at least once: most_tries is above 0"); }
}

void check(const AggregationJob& job, std::uint32_t number, const AggregatorSettings& settings) {
  if (job.workers.empty() || job.bytes <= Bytes::zero() || job.start < Time::zero()) {
    refuse(
        fmt::format("job {} has {} workers and {} bytes from {} ps on: it needs workers, bytes and a start that is "
                    "not negative",
                    number, job.workers.size(), job.bytes.count(), job.start.count()));
  }
  std::vector<std::uint32_t> seen;
  for (const VertexId worker : job.workers) { seen.push_back(worker.value); }
  if (job.server) { seen.push_back(job.server->value); }
  std::sort(seen.begin(), seen.end());
  if (std::adjacent_find(seen.begin(), seen.end()) != seen.end()) {
    refuse(fmt::format("two of the workers, or a worker and the server, of job {} are on one endpoint", number));
  }
  if (ceil_div(job.bytes.count(), settings.payload.count()) > kMostPackets) {
    refuse(fmt::format("job {} has more than {} packets: raise their payload", number, kMostPackets));
  }
}

std::unique_ptr<AggregationProtocol> process_of(Simulator& simulator, AggregationTransport& carrier,
                                                const std::vector<AggregationJob>& jobs,
                                                const AggregatorSettings& settings, const Cluster& cluster,
                                                std::uint64_t seed) {
  switch (settings.policy) {
    case AggregatorPolicy::static_pool:
      return std::make_unique<SwitchMlPool>(simulator, carrier, jobs, settings, cluster);
    case AggregatorPolicy::best_effort:
      return std::make_unique<AtpPool>(simulator, carrier, jobs, settings, cluster, seed);
  }
  return nullptr;
}

}  // namespace

AggregationResult run_aggregation(const Cluster& cluster, const std::vector<AggregationJob>& jobs,
                                  const AggregatorSettings& settings, std::uint64_t seed,
                                  const NetworkOptions& options) {
  check(settings);
  if (jobs.empty()) { refuse("there is no job"); }
  for (std::uint32_t job = 0; job < jobs.size(); ++job) { check(jobs[job], job, settings); }
  Simulator simulator(options.stop);
  AggregationTransport carrier(cluster, settings, seed);
  const std::unique_ptr<AggregationProtocol> process = process_of(simulator, carrier, jobs, settings, cluster, seed);
  carrier.open(simulator, options, *process);
  process->start();
  simulator.run();

  AggregationResult result;
  result.jobs = process->take_results();
  result.time = process->end();
  result.network = carrier.network().use(options.level == NetworkLevel::packet ? result.time : simulator.now());
  result.moved = carrier.moved();
  result.events = simulator.events();
  return result;
}

}  // namespace athanor
