#include "models/experiments/scenario/jobs_section.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "algorithms/schedule/contract.hpp"
#include "algorithms/schedule/field_names.hpp"
#include "models/experiments/scenario/collective_section.hpp"
#include "models/experiments/scenario/experiment_reader.hpp"
#include "models/software/profile.hpp"
#include "sim/format.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

using Type = FieldValue::Form::Type;

void read_job(Fields& fields, const CollectiveContext& context, std::optional<CollectiveKind> kind, JobConfig& job) {
  fields.optional("kind", job.kind, "What it does, where it differs from the others", collective_names());
  fields.optional("size", job.size, "Of its payload, at every row; absent: that of the row", {Bytes{1}});
  const bool chooses = !fields.reading() || fields.has("algorithm") || job.kind;
  if (chooses) {
    read_algorithm_choice(fields, job.kind ? job.kind : kind, context.imports, context.problems, job.choice.emplace());
  }
  fields.optional_object("nccl", job.nccl, "What NCCL is told of this job, in place of the scenario's \"nccl\"");
  if (job.kind == CollectiveKind::all_to_all_v) {
    fields.problem("kind", "conflict", "the sizes of all_to_all_v are said once for all jobs",
                   R"(write it as the "kind" of the collective)");
  }
}

}  // namespace

void read_jobs(Fields& fields, const CollectiveContext& context, std::optional<CollectiveKind> kind,
               std::optional<JobsConfig>& jobs) {
  constexpr std::uint32_t kMostJobs = 4096;
  JobsConfig config;
  bool found = false;
  fields.optional_value(
      "jobs",
      "So many jobs do the same at the same time, each on endpoints of its own, or a list of what each has of its own; "
      "absent: one",
      [&](FieldValue& value) {
        found = true;
        const auto job = [&](FieldValue& each) {
          each.object([&](Fields& inner) { read_job(inner, context, kind, config.own.emplace_back()); });
        };
        value.one_of({{Type::number,
                       [&](FieldValue& n) {
                         n.visit(config.jobs, Range<std::uint32_t>{1, kMostJobs});
                       }},
                      {Type::list, [&](FieldValue& list) {
                         list.list(job, {1, kMostJobs});
                       }}});
      });
  fields.optional("placement", config.placement,
                  "blocks: each job has successive endpoints; interleaved: each has every endpoint whose number leaves "
                  "the job's when divided by `jobs`",
                  {{"blocks", JobPlacement::blocks}, {"interleaved", JobPlacement::interleaved}});
  if (!fields.reading()) { return; }
  if (!found && fields.has("placement")) {
    fields.problem("placement", "conflict", "there is one job, on the first endpoints",
                   R"(add "jobs", or leave it out)");
  }
  if (!found) { return; }
  if (!config.own.empty()) { config.jobs = static_cast<std::uint32_t>(config.own.size()); }
  jobs = std::move(config);
}

bool JobsConfig::has_own_nccl() const {
  return std::any_of(own.begin(), own.end(), [](const JobConfig& job) { return job.nccl.has_value(); });
}

namespace {

/// What jobs have of their own fits what they share.
void check_own(const CaseParts& parts, const JobsConfig& config, const CollectiveSetup& common) {
  for (const JobConfig& own : config.own) {
    if (own.size && *own.size % size_of(common.type) != Bytes::zero()) {
      parts.fields.problem("collective", "not-whole-elements",
                           fmt::format("the \"size\" of a job, {}, is no whole number of {} elements",
                                       to_string(*own.size), name(common.type)),
                           "choose another size or \"type\"");
    }
    const CollectiveKind kind = own.kind.value_or(common.kind);
    if (common.in_place && !Contract({.kind = kind, .ranks = 2, .count = Elements{2}}).in_place(0)) {
      parts.fields.problem("collective", "conflict", fmt::format("{} is not done in place", name(kind)),
                           R"(leave "in_place" out)");
    }
    if (own.nccl && !parts.platform().profile->nccl) {
      parts.fields.problem("collective", "conflict", "a job has \"nccl\", and nothing says what NCCL's steps cost",
                           R"(name a "profile" of NCCL, or write "nccl": {} beside the collective)");
    }
  }
}

void check_places(const CaseParts& parts, const JobsSetup& setup) {
  const Cluster& cluster = *parts.platform().cluster;
  const std::uint64_t wanted = std::uint64_t{setup.jobs} * setup.common.ranks;
  if (setup.common.ranks == 0 || wanted > cluster.endpoints.size()) {
    parts.fields.problem("collective", "too-many-ranks",
                         fmt::format("{} jobs of {} ranks, but the cluster has {} endpoints: {}", setup.jobs,
                                     setup.common.ranks, cluster.endpoints.size(), cluster.description),
                         "\"jobs\" times \"ranks\" is at most that; absent \"ranks\" are those divided by \"jobs\"");
  }
  if (parts.platform().shares_machine()) {
    parts.fields.problem("cluster", "conflict", "jobs share a network, and these ranks share one machine",
                         "describe nodes or a fabric");
  }
}

}  // namespace

void check_jobs(const CaseParts& parts, const JobsConfig& config, const JobsSetup& setup) {
  Fields& fields = parts.fields;
  check_places(parts, setup);
  if (parts.verification) {
    fields.problem("verify", "conflict", "measurements are of one job, and these are several", "leave it out");
  }
  if (setup.common.compute) {
    fields.problem("collective", "conflict", "what hosts compute beside a collective is asked of one job alone",
                   R"(leave out "compute" or "jobs")");
  }
  const bool each =
      setup.common.each_algorithm || std::any_of(config.own.begin(), config.own.end(),
                                                 [](const JobConfig& own) { return own.choice && own.choice->each; });
  if (each) {
    fields.problem("collective", "conflict", "each of several jobs runs one algorithm",
                   "name the candidates in a list, or write \"best\"");
  }
  check_own(parts, config, setup.common);
}

}  // namespace athanor
