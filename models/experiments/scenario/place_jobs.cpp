#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/core.h>

#include "models/execution/run_jobs.hpp"
#include "models/experiments/background_traffic.hpp"
#include "models/experiments/scenario/experiment_reader.hpp"
#include "models/experiments/scenario/resolve_training.hpp"
#include "models/experiments/scenario/side_by_side_section.hpp"
#include "models/experiments/trace.hpp"
#include "models/traces/read_trace.hpp"
#include "sim/format.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

/// What an iteration of a job is to all of its ranks: one worker stands for them.
Workload workload_of(const IterationConfig& iteration, std::uint32_t ranks) {
  Workload workload;
  workload.labels = {"compute", "call"};
  Workload::Worker& worker = workload.workers.emplace_back();
  worker.name = "ranks";
  worker.ranks = ranks;
  worker.streams = {{.name = "compute"}, {.name = "communication"}};
  std::vector<std::uint32_t> all(ranks);
  std::iota(all.begin(), all.end(), 0U);
  workload.communicators.push_back(
      {"all", Parallelism::data, {0}, std::make_shared<const EndpointGroups>(EndpointGroups{std::move(all)})});
  workload.calls.push_back({.communicator = 0, .kind = iteration.kind, .size = iteration.size});
  worker.dependencies = {0, 0};
  worker.operations.resize(3);
  Workload::Operation& before = worker.operations[0];
  before.kind = Workload::Kind::compute;
  before.time = iteration.compute;
  Workload::Operation& call = worker.operations[1];
  call.kind = Workload::Kind::call;
  call.stream = 1;
  call.label = 1;
  call.dependencies = 1;
  Workload::Operation& beside = worker.operations[2];
  beside.kind = Workload::Kind::compute;
  beside.time = iteration.beside;
  beside.first_dependency = 1;
  beside.dependencies = 1;
  return workload;
}

class JobPlaces {
 public:
  JobPlaces(ReadingContext& context, const ClusterConfig& described, const Cluster& cluster)
      : context_(context), described_(described), cluster_(cluster), bare_(without_endpoints(cluster)) {}

  /// Nothing where something is in the way.
  std::optional<SideJob> place(SideJobConfig& config) {
    SideJob job;
    job.name = config.name;
    job.start = config.start;
    job.priority = config.priority;
    job.steps = config.steps.value_or(0);
    job.endpoints = endpoints_of(config);
    if (job.endpoints.empty() || !take(config, job.endpoints)) { return std::nullopt; }
    if (config.training) { return train(config, std::move(job)); }
    if (config.trace) { return replay(config, std::move(job)); }
    return iterate(config, std::move(job));
  }

 private:
  std::optional<SideJob> refuse(const SideJobConfig& job, const char* code, std::string message, std::string hint) {
    context_.problems.add({code, fmt::format("'{}': {}", job.name, message), job.place, std::move(hint)});
    return std::nullopt;
  }

  std::optional<SideJob> train(SideJobConfig& config, SideJob job) {
    const Cluster own = cluster_of_job(cluster_, bare_, job.endpoints);
    job.training = resolve_training(context_, described_, own, *config.training);
    if (!job.training || job.training->plan_fault) { return std::nullopt; }
    const std::uint32_t ranks = job.training->setup.plan.ranks();
    if (ranks != job.endpoints.size()) {
      return refuse(config, "conflict",
                    fmt::format("the plan is for {} GPUs, and the job has {}", ranks, job.endpoints.size()),
                    R"(leave "data" of the plan out, or give the job as many)");
    }
    job.workload = std::make_shared<const Workload>(athanor::workload_of(job.training->setup));
    job.what = "training of " + describe(job.training->setup);
    return job;
  }

  std::optional<SideJob> replay(const SideJobConfig& config, SideJob job) {
    const std::shared_ptr<const ImportedTrace>& trace = config.trace->trace;
    if (!trace) { return std::nullopt; }
    if (trace->ranks != job.endpoints.size()) {
      return refuse(config, "conflict",
                    fmt::format("the trace has {} ranks, and the job {} endpoints", trace->ranks, job.endpoints.size()),
                    "give the job as many");
    }
    job.workload = std::shared_ptr<const Workload>(trace, &trace->workload);
    job.what = fmt::format("trace of {} ranks ({})", trace->ranks, name(trace->format));
    return job;
  }

  std::optional<SideJob> iterate(const SideJobConfig& config, SideJob job) {
    const IterationConfig& own = *config.iteration;
    const auto ranks = static_cast<std::uint32_t>(job.endpoints.size());
    const Bytes element = size_of(DataType::float32);
    if (own.size % element != Bytes::zero()) {
      return refuse(config, "not-whole-elements", fmt::format("{} is no whole number of float32", to_string(own.size)),
                    "choose a multiple of 4 bytes");
    }
    job.workload = std::make_shared<const Workload>(workload_of(own, ranks));
    job.what = fmt::format("{} of computing, {} of {} on {} GPUs{}", to_string(own.compute), name(own.kind),
                           to_string(own.size), ranks,
                           own.beside > Time::zero() ? fmt::format(" beside {} more", to_string(own.beside)) : "");
    return job;
  }

  /// Empty: something is in the way.
  std::vector<std::uint32_t> endpoints_of(const SideJobConfig& job) {
    if (!job.endpoints.empty()) { return job.endpoints; }
    if (!job.nodes.empty()) { return of_nodes(job); }
    const std::optional<std::uint32_t> wanted = wanted_by(job);
    if (!wanted) {
      refuse(job, "missing-key", "nothing says on how many GPUs it runs", R"(give it "gpus", "nodes" or "endpoints")");
      return {};
    }
    std::vector<std::uint32_t> found;
    for (std::uint32_t each = 0; each < cluster_.endpoints.size() && found.size() < *wanted; ++each) {
      if (!taken_.contains(each)) { found.push_back(each); }
    }
    if (found.size() == *wanted) { return found; }
    refuse(job, "too-many-ranks",
           fmt::format("it needs {} endpoints, and {} of {} are left: {}", *wanted, found.size(),
                       cluster_.endpoints.size(), cluster_.description),
           "make the cluster larger, or the jobs smaller");
    return {};
  }

  static std::optional<std::uint32_t> wanted_by(const SideJobConfig& job) {
    if (job.gpus) { return job.gpus; }
    if (job.trace && job.trace->trace) { return job.trace->trace->ranks; }
    if (!job.training || !job.training->data) { return std::nullopt; }
    const ParallelPlan& plan = job.training->plan;
    return plan.tensor * plan.context * plan.pipeline * *job.training->data;
  }

  std::vector<std::uint32_t> of_nodes(const SideJobConfig& job) {
    std::vector<std::uint32_t> found;
    for (const std::uint32_t node : job.nodes) {
      const std::size_t before = found.size();
      for (std::uint32_t each = 0; each < cluster_.endpoints.size(); ++each) {
        if (cluster_.fabric->vertex(cluster_.endpoints[each]).node == node) { found.push_back(each); }
      }
      if (found.size() > before) { continue; }
      refuse(job, "no-such-node", fmt::format("there is no node {}: {}", node, cluster_.description),
             "nodes are numbered from 0");
      return {};
    }
    return found;
  }

  bool take(const SideJobConfig& job, const std::vector<std::uint32_t>& endpoints) {
    for (const std::uint32_t each : endpoints) {
      if (each >= cluster_.endpoints.size()) {
        refuse(job, "no-such-endpoint",
               fmt::format("there is no endpoint {}: they go from 0 to {}", each, cluster_.endpoints.size() - 1), "");
        return false;
      }
      if (!taken_.insert(each).second) {
        refuse(job, "endpoint-taken", fmt::format("endpoint {} stands twice, or another job has it", each),
               "give each job endpoints of its own");
        return false;
      }
    }
    return true;
  }

  ReadingContext& context_;
  const ClusterConfig& described_;
  const Cluster& cluster_;
  Cluster bare_;
  std::set<std::uint32_t> taken_;
};

SideTraffic traffic_of(const SideTrafficConfig& config, std::uint64_t seed) {
  SideTraffic traffic;
  traffic.name = config.name.empty() ? std::string(name(config.traffic.pattern)) : config.name;
  traffic.rate = config.rate;
  traffic.every = config.every;
  const Bytes size = config.traffic.sizes.empty() ? Bytes::zero() : config.traffic.sizes.front();
  traffic.matrix = make_traffic(config.traffic, size, seed);
  if (config.gap) { spread_by_chance(traffic.matrix, *config.gap, seed); }
  return traffic;
}

}  // namespace

void place_jobs(ReadingContext& context, const ClusterConfig& described, const Cluster& cluster, std::uint64_t seed,
                SideBySideConfig& config) {
  JobPlaces places(context, described, cluster);
  for (SideJobConfig& each : config.jobs) {
    std::optional<SideJob> job = places.place(each);
    if (!job) { continue; }
    std::vector<std::string> notes;
    if (job->training) { notes = job->training->notes; }
    if (each.trace) { notes = each.trace->trace->notes; }
    for (const std::string& note : notes) { config.setup.notes.push_back(fmt::format("{}: {}", job->name, note)); }
    config.setup.jobs.push_back(std::move(*job));
  }
  for (SideTrafficConfig& each : config.traffic) {
    const std::size_t before = context.problems.size();
    resolve(each.traffic, cluster, context.problems);
    if (context.problems.size() == before) { config.setup.traffic.push_back(traffic_of(each, seed)); }
  }
}

}  // namespace athanor
