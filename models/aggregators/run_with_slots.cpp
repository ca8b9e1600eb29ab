#include "models/aggregators/run_with_slots.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "algorithms/catalog.hpp"
#include "models/aggregators/run_slots.hpp"
#include "models/execution/candidate.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

bool is_simulated(const Algorithm& algorithm) { return algorithm.name == "aggregation_tree"; }

/// Of hosts: what a schedule charges for the message up and for that down, a packet pays where it is received.
SlotSettings settings_of(const NetworkEngines& aggregation, const Protocol& protocol) {
  SlotSettings settings = *aggregation.slots;
  settings.engines = aggregation.engine.limits;
  settings.pipeline_latency = protocol.aggregation.latency;
  settings.host_latency = protocol.aggregation.host_latency * 2;
  return settings;
}

SlotJob job_of(const RunRequest& request) {
  SlotJob job;
  const auto& endpoints = request.cluster.endpoints;
  job.workers.assign(endpoints.begin(), endpoints.begin() + request.collective.ranks);
  if (!request.aggregation->servers.empty()) { job.server = request.aggregation->servers.front(); }
  job.bytes = payload(request);
  return job;
}

Simulated simulated_of(SlotResult result) {
  Simulated simulated;
  simulated.time = result.time;
  simulated.network = std::move(result.network);
  simulated.events = result.events;
  return simulated;
}

std::string limit(const RunRequest& request, const RunResult& result) {
  std::string link = limiting_link(*request.cluster.fabric, result.simulated.network.loads, result.time);
  if (!link.empty()) { return link; }
  if ((result.time - result.simulated.time) * 2 >= result.time) { return "launch"; }
  return result.slots->retransmissions > 0 ? "timeouts" : "latency";
}

RunResult run_packets(const RunRequest& request, const Candidate& candidate) {
  SlotResult simulated =
      run_slots(request.cluster, {job_of(request)}, settings_of(*request.aggregation, candidate.protocol()),
                request.seed, request.options);
  RunResult result;
  result.algorithm = candidate.algorithm().name;
  result.chosen = &candidate.algorithm();
  result.protocol = candidate.protocol().name;
  result.size = payload(request);
  result.slots = simulated.jobs.front();
  result.simulated = simulated_of(std::move(simulated));
  result.time = result.simulated.time + candidate.launch();
  result.bound = lower_bound(request.cluster, request.collective, result.size, true);
  result.limited_by = limit(request, result);
  result.extrapolated =
      !request.profile.covers(request.collective.kind, request.collective.ranks, result.size, request.cluster);
  if (result.time < result.bound.time) {
    result.notes.emplace_back("less than the bound: the ideal network lets connections share a link at full speed");
  }
  return result;
}

/// With the fastest of several protocols.
RunResult run_fastest(const RunRequest& request, const std::vector<Candidate>& candidates) {
  std::optional<RunResult> best;
  for (const Candidate& candidate : candidates) {
    RunResult result = run_packets(request, candidate);
    if (!best || result.time < best->time) { best = std::move(result); }
  }
  return std::move(*best);
}

/// The request with those of the others that fit; what does not is noted in `result`.
RunRequest others_of(const RunRequest& request, RunResult& result) {
  RunRequest others = request;
  others.algorithms.clear();
  for (const Algorithm* algorithm : request.algorithms) {
    if (is_simulated(*algorithm)) { continue; }
    const std::optional<std::string> reason = why_not(request, *algorithm);
    if (!reason) {
      others.algorithms.push_back(algorithm);
    } else {
      result.notes.push_back(fmt::format("does not fit: {}: {}", algorithm->name, *reason));
    }
  }
  return others;
}

/// One of several jobs. Stays where it is: the request borrows the cluster.
class OwnRun {
 public:
  OwnRun(const JobsRequest& all, std::uint32_t number)
      : cluster_(cluster_of_job(all.cluster, all.jobs[number].endpoints)),
        request_(own_request(all, number)),
        candidates_(uses_slots(request_) ? candidates_of(request_, *request_.algorithms.front()) : Candidates{}) {}
  OwnRun(const OwnRun&) = delete;
  OwnRun(OwnRun&&) = delete;
  OwnRun& operator=(const OwnRun&) = delete;
  OwnRun& operator=(OwnRun&&) = delete;
  ~OwnRun() = default;

  const RunRequest& request() const { return request_; }
  bool uses_slots_alone() const { return uses_slots(request_) && request_.algorithms.size() == 1; }
  const Candidates& candidates() const { return candidates_; }

 private:
  RunRequest own_request(const JobsRequest& all, std::uint32_t number) const {
    RunRequest request = request_of_job(all, all.jobs[number], cluster_);
    request.aggregation = own_engines(all, number);
    request.options.count_ports = false;
    return request;
  }

  static std::shared_ptr<const NetworkEngines> own_engines(const JobsRequest& all, std::uint32_t number) {
    if (!all.aggregation || all.aggregation->servers.empty()) { return all.aggregation; }
    NetworkEngines engines = *all.aggregation;
    require(number < engines.servers.size(), "job {} has no server", number);
    engines.servers = {engines.servers[number]};
    return std::make_shared<const NetworkEngines>(std::move(engines));
  }

  Cluster cluster_;
  RunRequest request_;
  Candidates candidates_;
};

using OwnRuns = std::vector<std::unique_ptr<OwnRun>>;

/// Are they to run over slots together? Else none of them is.
bool run_over_slots(const OwnRuns& jobs) {
  const auto fits = [](const auto& job) { return job->uses_slots_alone() && !job->candidates().fitting.empty(); };
  const auto uses = [](const auto& job) { return uses_slots(job->request()); };
  if (std::all_of(jobs.begin(), jobs.end(), fits)) { return true; }
  const auto refused = [&](const auto& job) { return job->uses_slots_alone() && job->candidates().fitting.empty(); };
  if (std::none_of(jobs.begin(), jobs.end(), uses) || std::all_of(jobs.begin(), jobs.end(), refused)) { return false; }
  const auto other = std::find_if_not(jobs.begin(), jobs.end(), fits);
  throw SimulationError(
      "slots", fmt::format("jobs that share slots run aggregation_tree, all of them and nothing else; job {}: {}",
                           other - jobs.begin(),
                           refused(*other) ? (*other)->candidates().reason : "it has other algorithms to choose from"));
}

JobResult result_of(const OwnRun& job, const SlotJobResult& together) {
  const Candidate& candidate = job.candidates().fitting.front();
  JobResult result;
  result.alone = run_packets(job.request(), candidate);
  result.time = together.time + candidate.launch();
  result.slowdown = seconds(result.time) / seconds(result.alone.time);
  result.slots = together;
  return result;
}

}  // namespace

bool uses_slots(const RunRequest& request) {
  const auto& algorithms = request.algorithms;
  return request.aggregation && request.aggregation->slots && payload(request) > Bytes::zero() &&
         std::any_of(algorithms.begin(), algorithms.end(), [](const Algorithm* each) { return is_simulated(*each); });
}

RunResult run_with_slots(const RunRequest& request) {
  if (!uses_slots(request)) { return run_collective(request); }
  const auto& algorithms = request.algorithms;
  const auto tree =
      std::find_if(algorithms.begin(), algorithms.end(), [](const Algorithm* each) { return is_simulated(*each); });
  const Candidates candidates = candidates_of(request, **tree);
  if (candidates.fitting.empty()) { return run_collective(request); }
  RunResult result = run_fastest(request, candidates.fitting);
  result.notes.push_back(
      fmt::format("{} of {} B packet by packet: {}", result.protocol, result.size.count(), slots_text(*result.slots)));
  const RunRequest others = others_of(request, result);
  if (others.algorithms.empty()) { return result; }
  RunResult other = run_collective(others);
  return other.time < result.time ? other : result;
}

std::string slots_text(const SlotJobResult& slots) {
  return fmt::format("{} packets, {} sent again, {:.1f} % of additions in switches{}", slots.packets,
                     slots.retransmissions, share_in_switches(slots) * 100,
                     slots.server_packets > 0 ? fmt::format(", {} packets to the server", slots.server_packets) : "");
}

JobsResult run_jobs_with_slots(const JobsRequest& request) {
  if (!request.aggregation || !request.aggregation->slots) { return run_jobs(request); }
  OwnRuns own;
  std::vector<SlotJob> jobs;
  for (std::uint32_t number = 0; number < request.jobs.size(); ++number) {
    own.push_back(std::make_unique<OwnRun>(request, number));
    jobs.push_back(job_of(own.back()->request()));
  }
  if (!run_over_slots(own)) { return run_jobs(request); }
  const Candidate& first = own.front()->candidates().fitting.front();
  SlotResult together = run_slots(request.cluster, jobs, settings_of(*request.aggregation, first.protocol()),
                                  request.seed, request.options);
  JobsResult result;
  for (std::size_t number = 0; number < own.size(); ++number) {
    result.jobs.push_back(result_of(*own[number], together.jobs[number]));
    result.time = std::max(result.time, result.jobs.back().time);
  }
  result.simulated = simulated_of(std::move(together));
  return result;
}

}  // namespace athanor
