#include <filesystem>

#include <fmt/core.h>

#include "models/execution/by_packets.hpp"
#include "sim/config/json_value.hpp"
#include "sim/error.hpp"
#include "tools/cli/option_values.hpp"
#include "tools/cli/scenarios.hpp"
#include "tools/describe/named_clusters.hpp"
#include "tools/plot/drawing.hpp"
#include "tools/plot/plot_options.hpp"
#include "tools/plot/topology_use.hpp"
#include "topologies/cluster.hpp"
#include "topologies/formats/description.hpp"

namespace athanor {

namespace {

/// Nodes are drawn as one thing each, so that a picture may stand for more devices than can be told apart in it.
constexpr std::uint32_t kMostVertices = 100'000;

void check_drawable(const Cluster& cluster) {
  if (cluster.fabric->vertices() <= kMostVertices) { return; }
  throw UsageError(fmt::format("plot: {} devices are too many for a picture; draw a smaller cluster of the same kind",
                               cluster.fabric->vertices()));
}

/// The one case that --size is for.
Case the_collective(const PlotOptions& options, const std::string& path) {
  if (!std::filesystem::exists(path)) {
    throw UsageError(
        fmt::format("plot: --size: a collective of a scenario is simulated, and {} is no file; leave it out to draw "
                    "the node alone",
                    path));
  }
  const Scenario scenario = read_scenario(path, options.common.library, changes_of(options.scenario));
  if (scenario.cases.size() > 1) {
    throw UsageError(
        fmt::format("plot: --size: {} has {} cases; choose one with --case NAME", path, scenario.cases.size()));
  }
  if (scenario.cases.front().as<CollectiveExperiment>() == nullptr) {
    throw UsageError(fmt::format("plot: --size is for one collective, and {} has none; leave it out", path));
  }
  return scenario.cases.front();
}

JsonValue topology_in_use(const PlotOptions& options, const std::string& path) {
  const Case scenario_case = the_collective(options, path);
  const Platform& platform = scenario_case.platform;
  const CollectiveSetup& setup = scenario_case.as<CollectiveExperiment>()->setup();
  check_drawable(*platform.cluster);
  const SimulationOptions how = simulation_options(platform, {});
  const RunRequest request = setup.request(platform, *options.size, how);
  if (uses_aggregators(request)) {
    throw UsageError("plot: --size follows schedules, and packets that switches add up one by one have none");
  }
  if (auto json = topology_use_json(*platform.cluster, setup, *options.size, choose_fastest(request), how)) {
    return *json;
  }
  throw UsageError("plot: --size: nothing went over a link, so there is no utilisation to draw; leave it out");
}

}  // namespace

ExitCode plot_topology(const PlotOptions& options, const Streams& streams) {
  const CommonOptions& common = options.common;
  if (common.arguments.size() < 2) {
    throw UsageError("plot: which cluster? Write the file of a scenario, or a node preset, after topology");
  }
  const std::string& argument = common.arguments[1];
  const std::string picture =
      picture_path(options.output, options.folder, "topology-" + std::filesystem::path(argument).stem().string());
  if (options.size) {
    draw(common.library, streams, "plot_topology.py", topology_in_use(options, argument), picture);
    return ExitCode::ok;
  }
  const std::vector<NamedCluster> clusters = named_clusters_of(argument, common.library, changes_of(options.scenario));
  const Cluster& cluster = *the_only(clusters, "plot topology draws").cluster;
  check_drawable(cluster);
  draw(common.library, streams, "plot_topology.py", graph_to_json(cluster), picture);
  return ExitCode::ok;
}

}  // namespace athanor
