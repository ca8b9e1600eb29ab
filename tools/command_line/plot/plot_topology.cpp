#include "tools/command_line/plot/plot_topology.hpp"

#include <filesystem>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "models/execution/by_packets.hpp"
#include "sim/error.hpp"
#include "tools/command_line/describe/named_clusters.hpp"
#include "tools/command_line/option_values.hpp"
#include "tools/command_line/plot/drawing.hpp"
#include "tools/command_line/plot/topology_use.hpp"
#include "tools/command_line/run/simulate_case.hpp"
#include "topologies/description.hpp"

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
Case the_collective(const Invocation& invocation, const std::string& path) {
  if (!std::filesystem::exists(path)) {
    throw UsageError(
        fmt::format("plot: --size: a collective of a scenario is simulated, and {} is no file; leave it out to draw "
                    "the node alone",
                    path));
  }
  Invocation of_one = invocation;
  of_one.arguments = {path};
  const std::vector<Scenario> scenarios = read_scenarios(of_one);
  const std::vector<Case>& cases = scenarios.front().cases;
  if (cases.size() > 1) {
    throw UsageError(fmt::format("plot: --size: {} has {} cases; choose one with --case NAME", path, cases.size()));
  }
  if (const Case& only = cases.front();
      only.traffic || only.training || only.trace || only.parameter_server || only.jobs) {
    throw UsageError(fmt::format("plot: --size is for one collective, and {} has none; leave it out", path));
  }
  return cases.front();
}

nlohmann::ordered_json topology_in_use(const Invocation& invocation, const std::string& path, Bytes size) {
  const Case scenario_case = the_collective(invocation, path);
  check_drawable(*scenario_case.cluster);
  const SimulationOptions options = simulation_options_of(scenario_case, invocation, nullptr);
  const RunRequest request = scenario_case.request(size, options);
  if (uses_aggregators(request)) {
    throw UsageError("plot: --size follows schedules, and packets that switches add up one by one have none");
  }
  if (auto json = topology_use_json(scenario_case, size, choose_fastest(request), options)) { return *json; }
  throw UsageError("plot: --size: nothing went over a link, so there is no utilisation to draw; leave it out");
}

}  // namespace

ExitCode plot_topology(const Invocation& invocation, const Streams& streams) {
  if (invocation.arguments.size() < 2) {
    throw UsageError("plot: which cluster? Write the file of a scenario, or a node preset, after topology");
  }
  const std::string& argument = invocation.arguments[1];
  const std::string picture = picture_path(invocation, "topology-" + std::filesystem::path(argument).stem().string());
  if (invocation.has("size")) {
    const Bytes size = size_option("plot", invocation, "size");
    draw(invocation, streams, "plot_topology.py", topology_in_use(invocation, argument, size), picture);
    return ExitCode::ok;
  }
  const std::vector<NamedCluster> clusters = named_clusters_of(invocation, argument);
  const Cluster& cluster = *the_only(clusters, "plot topology draws").cluster;
  check_drawable(cluster);
  draw(invocation, streams, "plot_topology.py", graph_to_json(cluster), picture);
  return ExitCode::ok;
}

}  // namespace athanor
