#include "tools/scenario/group_pricing.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "models/execution/candidate.hpp"
#include "tools/scenario/algorithm_choice.hpp"
#include "tools/scenario/profile_section.hpp"
#include "tools/scenario/scenario.hpp"

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

NcclSource nccl_of_groups(const std::optional<NcclSection>& section, const Place& place, const std::string& directory,
                          const Case& scenario_case) {
  using Key = std::pair<std::size_t, std::vector<std::uint32_t>>;
  auto known = std::make_shared<std::map<Key, std::shared_ptr<const NcclRuntime>>>();
  auto own = std::make_shared<const Case>(scenario_case);
  return [=](const std::vector<std::uint32_t>& endpoints) {
    Case group = *own;
    group.cluster = std::make_shared<const Cluster>(cluster_of_job(*own->cluster, endpoints));
    group.ranks = static_cast<std::uint32_t>(endpoints.size());
    std::shared_ptr<const NcclRuntime>& runtime = (*known)[{endpoints.size(), places_of(*group.cluster)}];
    if (runtime) { return runtime; }
    Problems problems;
    runtime = resolve_nccl(section.value_or(NcclSection{}), group, place, directory, problems);
    problems.throw_if_any();
    return runtime;
  };
}

PricingSettings pricing_of(const Case& scenario_case, const SimulationOptions& options) {
  PricingSettings settings{.cluster = *scenario_case.cluster,
                           .profile = scenario_case.profile,
                           .options = options,
                           .seed = scenario_case.seed,
                           .aggregation = scenario_case.aggregation,
                           .algorithms = nccls,
                           .nccl = scenario_case.nccl_groups};
  settings.options.timeline = nullptr;
  settings.ring_per_rank = scenario_case.profile.name == kIdealProfile;
  if (!scenario_case.profile.nccl) {
    settings.algorithms = [cluster = scenario_case.cluster](CollectiveKind kind) {
      return usual_algorithms(kind, *cluster);
    };
    if (scenario_case.aggregation) { settings.by_engines = aggregating; }
  }
  return settings;
}

}  // namespace athanor
