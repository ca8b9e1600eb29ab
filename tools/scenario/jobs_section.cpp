#include "tools/scenario/jobs_section.hpp"

#include <fmt/format.h>

#include "tools/scenario/scenario.hpp"

namespace athanor {

void read_jobs(ObjectReader& reader, std::optional<JobsText>& jobs) {
  std::optional<std::uint32_t> count;
  JobsText text;
  reader.optional("jobs", count, "So many jobs do the same at the same time, each on endpoints of its own; absent: one",
                  {1, 4096});
  reader.optional("placement", text.placement,
                  "blocks: each job has successive endpoints; interleaved: each has every endpoint whose number leaves "
                  "the job's when divided by `jobs`",
                  {{"blocks", JobPlacement::blocks}, {"interleaved", JobPlacement::interleaved}});
  if (reader.describing()) { return; }
  if (!reader.has("jobs") && reader.has("placement")) {
    reader.problem("placement", "conflict", "there is one job, on the first endpoints",
                   R"(add "jobs", or leave it out)");
  }
  if (!count) { return; }
  text.jobs = *count;
  jobs = text;
}

std::vector<std::uint32_t> endpoints_of_job(const JobsText& jobs, std::uint32_t job, std::uint32_t ranks) {
  std::vector<std::uint32_t> endpoints;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    switch (jobs.placement) {
      case JobPlacement::blocks: endpoints.push_back(job * ranks + rank); break;
      case JobPlacement::interleaved: endpoints.push_back(rank * jobs.jobs + job); break;
    }
  }
  return endpoints;
}

JobsRequest Case::jobs_request(Bytes size, const SimulationOptions& options) const {
  const RunRequest one = request(size, options);
  JobsRequest all{.cluster = one.cluster,
                  .profile = one.profile,
                  .jobs = {},
                  .options = options,
                  .seed = seed,
                  .aggregation = one.aggregation};
  for (std::uint32_t job = 0; job < jobs->jobs; ++job) {
    all.jobs.push_back({.endpoints = endpoints_of_job(*jobs, job, ranks),
                        .collective = one.collective,
                        .element_size = one.element_size,
                        .type = one.type,
                        .reduction = one.reduction,
                        .algorithms = one.algorithms,
                        .overrides = one.overrides,
                        .nccl = one.nccl});
  }
  return all;
}

void check_jobs(ObjectReader& reader, const Case& scenario_case) {
  const Cluster& cluster = *scenario_case.cluster;
  const std::uint64_t wanted = std::uint64_t{scenario_case.jobs->jobs} * scenario_case.ranks;
  if (scenario_case.ranks == 0 || wanted > cluster.endpoints.size()) {
    reader.problem("collective", "too-many-ranks",
                   fmt::format("{} jobs of {} ranks, but the cluster has {} endpoints: {}", scenario_case.jobs->jobs,
                               scenario_case.ranks, cluster.endpoints.size(), cluster.description),
                   "\"jobs\" times \"ranks\" is at most that; absent \"ranks\" are those divided by \"jobs\"");
  }
  if (cluster.processors > 0 || cluster.shared_gpus > 0) {
    reader.problem("cluster", "conflict", "jobs share a network, and these ranks share one machine",
                   "describe nodes or a fabric");
  }
  if (scenario_case.verification) {
    reader.problem("verify", "conflict", "measurements are of one job, and these are several", "leave it out");
  }
  if (!scenario_case.seeds.empty()) {
    reader.problem("seeds", "conflict", "several jobs run with one seed", "write \"seed\"");
  }
  if (scenario_case.compute) {
    reader.problem("collective", "conflict", "what hosts compute beside a collective is asked of one job alone",
                   R"(leave out "compute" or "jobs")");
  }
  if (scenario_case.each_algorithm) {
    reader.problem("collective", "conflict", "each of several jobs runs one algorithm",
                   "name the candidates in a list, or write \"best\"");
  }
}

}  // namespace athanor
