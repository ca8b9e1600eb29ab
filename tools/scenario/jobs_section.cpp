#include "tools/scenario/jobs_section.hpp"

#include <fmt/core.h>

#include "algorithms/schedule/contract.hpp"
#include "sim/format.hpp"
#include "tools/scenario/collective_section.hpp"
#include "tools/scenario/scenario.hpp"

namespace athanor {

namespace {

using Type = ValueReader::Form::Type;

void read_job(ObjectReader& reader, const CollectiveContext& context, std::optional<CollectiveKind> kind,
              JobText& job) {
  reader.optional_value("kind", "What it does, where it differs from the others",
                        [&](ValueReader& value) { read_kind(value, job.kind); });
  reader.optional("size", job.size, "Of its payload, at every row; absent: that of the row", {Bytes{1}});
  const bool chooses = reader.describing() || reader.has("algorithm") || job.kind;
  if (chooses) {
    read_algorithm_choice(reader, job.kind ? job.kind : kind, context.imports, context.problems, job.choice.emplace());
  }
  reader.optional_object("nccl", "What NCCL is told of this job, in place of the scenario's \"nccl\"",
                         [&](ObjectReader& inner) { read(inner, job.nccl.emplace()); });
  if (job.kind == CollectiveKind::all_to_all_v) {
    reader.problem("kind", "conflict", "the sizes of all_to_all_v are said once for all jobs",
                   R"(write it as the "kind" of the collective)");
  }
}

}  // namespace

void read_jobs(ObjectReader& reader, const CollectiveContext& context, std::optional<CollectiveKind> kind,
               std::optional<JobsText>& jobs) {
  constexpr std::uint32_t kMostJobs = 4096;
  JobsText text;
  bool found = false;
  reader.optional_value(
      "jobs",
      "So many jobs do the same at the same time, each on endpoints of its own, or a list of what each has of its own; "
      "absent: one",
      [&](ValueReader& value) {
        found = true;
        const auto job = [&](ValueReader& each) {
          each.object([&](ObjectReader& inner) { read_job(inner, context, kind, text.own.emplace_back()); });
        };
        value.one_of({{Type::number,
                       [&](ValueReader& n) {
                         n.read(text.jobs, Range<std::uint32_t>{1, kMostJobs});
                       }},
                      {Type::list, [&](ValueReader& list) {
                         list.list(job, {1, kMostJobs});
                       }}});
      });
  reader.optional("placement", text.placement,
                  "blocks: each job has successive endpoints; interleaved: each has every endpoint whose number leaves "
                  "the job's when divided by `jobs`",
                  {{"blocks", JobPlacement::blocks}, {"interleaved", JobPlacement::interleaved}});
  if (reader.describing()) { return; }
  if (!found && reader.has("placement")) {
    reader.problem("placement", "conflict", "there is one job, on the first endpoints",
                   R"(add "jobs", or leave it out)");
  }
  if (!found) { return; }
  if (!text.own.empty()) { text.jobs = static_cast<std::uint32_t>(text.own.size()); }
  jobs = std::move(text);
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

namespace {

/// What the case says, changed by what one of its jobs has of its own.
void take_own(const JobText& own, Case& scenario_case) {
  scenario_case.kind = own.kind.value_or(scenario_case.kind);
  if (own.size) { scenario_case.sizes = {*own.size}; }
  if (own.choice) {
    scenario_case.algorithms = own.choice->algorithms;
    scenario_case.imports = own.choice->imports;
    if (scenario_case.nccl) { leave_to_nccl(scenario_case); }
  }
}

}  // namespace

Case case_of_job(const Case& scenario_case, std::uint32_t job) {
  const JobsText& jobs = scenario_case.jobs.value();
  Case result = scenario_case;
  result.jobs = {};
  result.cluster = std::make_shared<const Cluster>(
      cluster_of_job(*scenario_case.cluster, endpoints_of_job(jobs, job, scenario_case.ranks)));
  if (!jobs.nccl.empty()) { result.nccl = jobs.nccl.at(job); }
  if (!jobs.own.empty()) { take_own(jobs.own.at(job), result); }
  return result;
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
    const Case own = case_of_job(*this, job);
    const bool has_size = !jobs->own.empty() && jobs->own.at(job).size;
    all.jobs.push_back({.endpoints = endpoints_of_job(*jobs, job, ranks),
                        .collective = own.collective(has_size ? own.sizes.front() : size),
                        .element_size = one.element_size,
                        .type = one.type,
                        .reduction = one.reduction,
                        .algorithms = own.algorithms,
                        .overrides = one.overrides,
                        .nccl = own.nccl});
  }
  return all;
}

namespace {

/// What jobs have of their own fits what they share.
void check_own(ObjectReader& reader, const Case& scenario_case) {
  for (const JobText& own : scenario_case.jobs->own) {
    if (own.size && *own.size % size_of(scenario_case.type) != Bytes::zero()) {
      reader.problem("collective", "not-whole-elements",
                     fmt::format("the \"size\" of a job, {}, is no whole number of {} elements", to_string(*own.size),
                                 name(scenario_case.type)),
                     "choose another size or \"type\"");
    }
    const CollectiveKind kind = own.kind.value_or(scenario_case.kind);
    if (scenario_case.in_place && !Contract({.kind = kind, .ranks = 2, .count = Elements{2}}).in_place(0)) {
      reader.problem("collective", "conflict", fmt::format("{} is not done in place", name(kind)),
                     R"(leave "in_place" out)");
    }
    if (own.nccl && !scenario_case.profile.nccl) {
      reader.problem("collective", "conflict", "a job has \"nccl\", and nothing says what NCCL's steps cost",
                     R"(name a "profile" of NCCL, or write "nccl": {} beside the collective)");
    }
  }
}

}  // namespace

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
  bool each = scenario_case.each_algorithm;
  for (const JobText& own : scenario_case.jobs->own) { each |= own.choice && own.choice->each; }
  if (each) {
    reader.problem("collective", "conflict", "each of several jobs runs one algorithm",
                   "name the candidates in a list, or write \"best\"");
  }
  check_own(reader, scenario_case);
}

}  // namespace athanor
