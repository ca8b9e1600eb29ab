#include "models/experiments/workload.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "models/execution/candidate.hpp"
#include "models/experiments/collective.hpp"
#include "models/experiments/scenario/algorithm_choice.hpp"
#include "models/experiments/scenario/profile_section.hpp"
#include "models/experiments/workload_columns.hpp"
#include "models/software/profile.hpp"
#include "sim/error.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

/// What libraries without a tuner of their own use at large sizes.
std::string_view usual_algorithm(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_to_all:
    case CollectiveKind::all_to_all_v: return "pairwise";
    case CollectiveKind::gather:
    case CollectiveKind::scatter: return "linear";
    case CollectiveKind::barrier: return "dissemination";
    case CollectiveKind::send_receive: return "direct";
    case CollectiveKind::all_reduce:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_gather:
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce: break;
  }
  return "ring";
}

/// On a torus also what is made for one: libraries of such machines have it.
std::vector<const Algorithm*> usual_algorithms(CollectiveKind kind, const Cluster& cluster) {
  std::vector<const Algorithm*> usual{&find(kind, usual_algorithm(kind))};
  if (cluster.torus.front() == 0) { return usual; }
  for (const Algorithm* each : algorithms_of(kind)) {
    if (each->name == "torus") { usual.push_back(each); }
  }
  return usual;
}

std::vector<const Algorithm*> aggregating(CollectiveKind kind) {
  std::vector<const Algorithm*> all = algorithms_of(kind);
  std::erase_if(all, [](const Algorithm* each) { return !aggregates(*each); });
  return all;
}

std::vector<const Algorithm*> nccls(CollectiveKind kind) {
  std::vector<const Algorithm*> all = algorithms_of(kind);
  std::erase_if(all, [](const Algorithm* each) { return !is_nccls(*each, true) && !is_nccls(*each, false); });
  return all;
}

}  // namespace

PricingSettings pricing_of(const WorkloadNccl& nccl, const Platform& platform, const RunOptions& options) {
  PricingSettings settings{.cluster = *platform.cluster,
                           .profile = *platform.profile,
                           .options = simulation_options(platform, options),
                           .seed = platform.seed,
                           .aggregation = platform.aggregation,
                           .algorithms = nccls,
                           .nccl = nccl.groups};
  settings.options.timeline = nullptr;
  settings.ring_per_rank = platform.profile->name == kIdealProfile;
  if (!platform.profile->nccl) {
    settings.algorithms = [cluster = platform.cluster](CollectiveKind kind) {
      return usual_algorithms(kind, *cluster);
    };
    if (platform.aggregation) { settings.by_engines = aggregating; }
  }
  return settings;
}

std::span<const Bytes> WorkloadExperiment::sizes() const {
  static constexpr std::array kSizes{kOneRun};
  return kSizes;
}

std::string WorkloadExperiment::label(Bytes /*size*/) const { return std::string(subject()); }

std::vector<std::string> WorkloadExperiment::warnings(const Platform& platform) const {
  return nccl_warnings(*platform.profile, {nccl_.all});
}

std::string WorkloadExperiment::refusal(const Platform& /*platform*/, Ability ability) const {
  switch (ability) {
    case Ability::timeline: return "";
    case Ability::flows:
      return "--flows writes the messages of traffic, and this is none; leave it out, or use --trace";
    case Ability::ports:
      return "--ports counts what ports carry in collectives and traffic, and this is neither; leave it out, or see "
             "what links carry with `athanor explain`";
    case Ability::per_job: return "--per-job lists the jobs of a workload, and this is none; leave it out";
    case Ability::memory: return "--strict asks whether a training fits into memory, and this is none; leave it out";
  }
  return "";
}

std::vector<IdleKeys> WorkloadExperiment::idle_keys(const Platform& /*platform*/) const { return {kFallbackKeys}; }

void WorkloadExperiment::check_asked_sizes() const {
  throw UsageError("--sizes: a training or a trace has sizes of its own; leave out --sizes");
}

std::string WorkloadExperiment::work_text(const WorkloadResult& result) {
  return fmt::format("{} operations, {} events, {} kinds of calls", result.operations, result.events,
                     result.estimates.size());
}

}  // namespace athanor
