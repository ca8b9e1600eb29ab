#include "models/execution/by_packets.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/core.h>

#include "algorithms/catalog.hpp"
#include "models/execution/choice.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

/// Of hosts: what a schedule charges for the message up and for that down, a packet pays where it is received.
AggregatorSettings settings_of(const EngineDeployment& aggregation, const Protocol& protocol) {
  AggregatorSettings settings = *aggregation.slots;
  settings.engines = aggregation.engine.limits;
  settings.pipeline_latency = protocol.aggregation.latency;
  settings.host_latency = protocol.aggregation.host_latency * 2;
  return settings;
}

AggregationJob job_of(const RunRequest& request) {
  AggregationJob job;
  const auto& endpoints = request.cluster.endpoints;
  job.workers.assign(endpoints.begin(), endpoints.begin() + request.collective.ranks);
  if (!request.aggregation->servers.empty()) { job.server = request.aggregation->servers.front(); }
  job.bytes = payload(request);
  return job;
}

/// One of several jobs. Stays where it is: the request borrows the cluster.
class OwnRun {
 public:
  OwnRun(const JobsRequest& all, std::uint32_t number)
      : cluster_(cluster_of_job(all.cluster, all.jobs[number].endpoints)),
        request_(own_request(all, number)),
        candidates_(uses_aggregators(request_) ? candidates_of(request_, *request_.algorithms.front()) : Candidates{}) {
  }
  OwnRun(const OwnRun&) = delete;
  OwnRun& operator=(const OwnRun&) = delete;

  const RunRequest& request() const { return request_; }
  bool uses_slots_alone() const { return uses_aggregators(request_) && request_.algorithms.size() == 1; }
  bool fits() const { return uses_slots_alone() && !candidates_.fitting.empty(); }
  bool refused() const { return uses_slots_alone() && candidates_.fitting.empty(); }
  const std::string& reason() const { return candidates_.reason; }
  const Candidate& candidate() const { return candidates_.fitting.front(); }

  JobResult result(const AggregationJobResult& together) const {
    JobResult result;
    result.alone = complete(request_, {candidate(), candidate().run(request_.options), {}});
    result.time = together.time + candidate().launch();
    result.slowdown = seconds(result.time) / seconds(result.alone.time);
    result.slots = together;
    return result;
  }

 private:
  RunRequest own_request(const JobsRequest& all, std::uint32_t number) const {
    RunRequest request = request_of_job(all, all.jobs[number], cluster_);
    request.aggregation = own_engines(all, number);
    request.options.count_ports = false;
    return request;
  }

  static std::shared_ptr<const EngineDeployment> own_engines(const JobsRequest& all, std::uint32_t number) {
    if (all.aggregation->servers.empty()) { return all.aggregation; }
    EngineDeployment engines = *all.aggregation;
    require(number < engines.servers.size(), "job {} has no server", number);
    engines.servers = {engines.servers[number]};
    return std::make_shared<const EngineDeployment>(std::move(engines));
  }

  Cluster cluster_;
  RunRequest request_;
  Candidates candidates_;
};

using OwnRuns = std::vector<std::unique_ptr<OwnRun>>;

/// Are they to run over slots together? Else none of them is.
bool run_over_slots(const OwnRuns& jobs) {
  const auto fits = [](const auto& job) { return job->fits(); };
  const auto uses = [](const auto& job) { return uses_aggregators(job->request()); };
  const auto refused = [](const auto& job) { return job->refused(); };
  if (std::all_of(jobs.begin(), jobs.end(), fits)) { return true; }
  if (std::none_of(jobs.begin(), jobs.end(), uses) || std::all_of(jobs.begin(), jobs.end(), refused)) { return false; }
  const auto other = std::find_if_not(jobs.begin(), jobs.end(), fits);
  throw SimulationError(
      "slots", fmt::format("jobs that share slots run aggregation_tree, all of them and nothing else; job {}: {}",
                           other - jobs.begin(),
                           refused(*other) ? (*other)->reason() : "it has other algorithms to choose from"));
}

}  // namespace

bool goes_by_packets(const RunRequest& request, const Algorithm& algorithm) {
  return algorithm.engine == Engine::switches && request.aggregation && request.aggregation->slots &&
         payload(request) > Bytes::zero();
}

bool uses_aggregators(const RunRequest& request) {
  const auto& algorithms = request.algorithms;
  return std::any_of(algorithms.begin(), algorithms.end(),
                     [&](const Algorithm* each) { return goes_by_packets(request, *each); });
}

AggregationResult run_by_packets(const RunRequest& request, const Protocol& protocol, const NetworkOptions& options) {
  return run_aggregation(request.cluster, {job_of(request)}, settings_of(*request.aggregation, protocol), request.seed,
                         options);
}

Simulated simulated_of(AggregationResult result) {
  Simulated simulated;
  simulated.time = result.time;
  simulated.network = std::move(result.network);
  simulated.events = result.events;
  return simulated;
}

std::string aggregation_text(const AggregationJobResult& slots) {
  return fmt::format("{} packets, {} sent again, {:.1f} % of additions in switches{}", slots.packets,
                     slots.retransmissions, share_in_switches(slots) * 100,
                     slots.server_packets > 0 ? fmt::format(", {} packets to the server", slots.server_packets) : "");
}

std::optional<JobsResult> run_jobs_by_packets(const JobsRequest& request) {
  if (!request.aggregation || !request.aggregation->slots) { return std::nullopt; }
  OwnRuns own;
  std::vector<AggregationJob> jobs;
  for (std::uint32_t number = 0; number < request.jobs.size(); ++number) {
    own.push_back(std::make_unique<OwnRun>(request, number));
    jobs.push_back(job_of(own.back()->request()));
  }
  if (!run_over_slots(own)) { return std::nullopt; }
  AggregationResult together =
      run_aggregation(request.cluster, jobs, settings_of(*request.aggregation, own.front()->candidate().protocol()),
                      request.seed, request.options);
  JobsResult result;
  for (std::size_t number = 0; number < own.size(); ++number) {
    result.jobs.push_back(own[number]->result(together.jobs[number]));
    result.time = std::max(result.time, result.jobs.back().time);
  }
  result.simulated = simulated_of(std::move(together));
  return result;
}

}  // namespace athanor
