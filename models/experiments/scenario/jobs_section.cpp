#include "models/experiments/scenario/jobs_section.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "algorithms/schedule/contract.hpp"
#include "models/experiments/scenario/collective_section.hpp"
#include "models/experiments/scenario/experiment_reader.hpp"
#include "models/software/profile.hpp"
#include "sim/format.hpp"
#include "topologies/cluster.hpp"

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

bool JobsText::has_own_nccl() const {
  return std::any_of(own.begin(), own.end(), [](const JobText& job) { return job.nccl.has_value(); });
}

namespace {

/// What jobs have of their own fits what they share.
void check_own(const CaseParts& parts, const JobsText& text, const CollectiveSetup& common) {
  for (const JobText& own : text.own) {
    if (own.size && *own.size % size_of(common.type) != Bytes::zero()) {
      parts.reader.problem("collective", "not-whole-elements",
                           fmt::format("the \"size\" of a job, {}, is no whole number of {} elements",
                                       to_string(*own.size), name(common.type)),
                           "choose another size or \"type\"");
    }
    const CollectiveKind kind = own.kind.value_or(common.kind);
    if (common.in_place && !Contract({.kind = kind, .ranks = 2, .count = Elements{2}}).in_place(0)) {
      parts.reader.problem("collective", "conflict", fmt::format("{} is not done in place", name(kind)),
                           R"(leave "in_place" out)");
    }
    if (own.nccl && !parts.platform().profile->nccl) {
      parts.reader.problem("collective", "conflict", "a job has \"nccl\", and nothing says what NCCL's steps cost",
                           R"(name a "profile" of NCCL, or write "nccl": {} beside the collective)");
    }
  }
}

void check_places(const CaseParts& parts, const JobsSetup& setup) {
  const Cluster& cluster = *parts.platform().cluster;
  const std::uint64_t wanted = std::uint64_t{setup.jobs} * setup.common.ranks;
  if (setup.common.ranks == 0 || wanted > cluster.endpoints.size()) {
    parts.reader.problem("collective", "too-many-ranks",
                         fmt::format("{} jobs of {} ranks, but the cluster has {} endpoints: {}", setup.jobs,
                                     setup.common.ranks, cluster.endpoints.size(), cluster.description),
                         "\"jobs\" times \"ranks\" is at most that; absent \"ranks\" are those divided by \"jobs\"");
  }
  if (parts.platform().shares_machine()) {
    parts.reader.problem("cluster", "conflict", "jobs share a network, and these ranks share one machine",
                         "describe nodes or a fabric");
  }
}

}  // namespace

void check_jobs(const CaseParts& parts, const JobsText& text, const JobsSetup& setup) {
  ObjectReader& reader = parts.reader;
  check_places(parts, setup);
  if (parts.verification) {
    reader.problem("verify", "conflict", "measurements are of one job, and these are several", "leave it out");
  }
  if (!parts.scenario_case.seeds.empty()) {
    reader.problem("seeds", "conflict", "several jobs run with one seed", "write \"seed\"");
  }
  if (setup.common.compute) {
    reader.problem("collective", "conflict", "what hosts compute beside a collective is asked of one job alone",
                   R"(leave out "compute" or "jobs")");
  }
  const bool each =
      setup.common.each_algorithm ||
      std::any_of(text.own.begin(), text.own.end(), [](const JobText& own) { return own.choice && own.choice->each; });
  if (each) {
    reader.problem("collective", "conflict", "each of several jobs runs one algorithm",
                   "name the candidates in a list, or write \"best\"");
  }
  check_own(parts, text, setup.common);
}

}  // namespace athanor
