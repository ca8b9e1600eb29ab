#include "tools/describe/named_clusters.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/core.h>

#include "models/experiments/scenario/cluster_section.hpp"
#include "sim/error.hpp"
#include "tools/cli/scenarios.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

/// Files win over presets; what is neither is most likely a slip in a preset's name.
bool is_preset_name(const std::string& argument) {
  return !std::filesystem::exists(argument) && argument.find('/') == std::string::npos && !argument.ends_with(".json");
}

NamedCluster preset_cluster_of(const std::string& name, const Library& library) {
  auto cluster = preset_cluster(name, library);
  if (cluster) {
    auto text = std::make_shared<ClusterConfig>();
    text->node.emplace().preset = name;
    return {name, std::move(cluster), std::move(text), {}};
  }
  std::vector<std::string> names;
  for (const PresetSummary& preset : preset_summaries(library)) {
    if (preset.kind == "node") { names.push_back(preset.name); }
  }
  const std::string near = nearest(name, names);
  throw UsageError(
      fmt::format("'{}' is neither a file nor a node preset; {}", name,
                  near.empty() ? "`athanor list presets` names them" : fmt::format("did you mean '{}'?", near)));
}

}  // namespace

std::vector<NamedCluster> named_clusters_of(const std::string& argument, const Library& library,
                                            const ScenarioChanges& changes) {
  if (is_preset_name(argument)) { return {preset_cluster_of(argument, library)}; }
  std::vector<NamedCluster> clusters;
  const Scenario scenario = read_scenario(argument, library, changes);
  for (const Case& each : scenario.cases) {
    const std::string name = each.name.empty() ? scenario.path : each.name;
    const auto same = [&](const NamedCluster& cluster) { return cluster.cluster == each.platform.cluster; };
    const auto known = std::find_if(clusters.begin(), clusters.end(), same);
    if (known == clusters.end()) {
      clusters.push_back({name, each.platform.cluster, each.cluster_config, each.prices});
    } else {
      known->name += ", " + name;
    }
  }
  return clusters;
}

const NamedCluster& the_only(const std::vector<NamedCluster>& clusters, std::string_view what) {
  if (clusters.size() == 1) { return clusters[0]; }
  throw UsageError(fmt::format("{} one cluster, and these are {}; choose with --case", what, clusters.size()));
}

}  // namespace athanor
