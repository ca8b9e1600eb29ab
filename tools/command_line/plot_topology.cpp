#include "tools/command_line/plot_topology.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/error.hpp"
#include "tools/command_line/drawing.hpp"
#include "tools/command_line/named_clusters.hpp"
#include "topologies/description.hpp"

namespace athanor {

namespace {

/// Nodes are drawn as one thing each, so that a picture may stand for more devices than can be told apart in it.
constexpr std::uint32_t kMostVertices = 100'000;

}  // namespace

ExitCode plot_topology(const Invocation& invocation, const Streams& streams) {
  if (invocation.arguments.size() < 2) {
    throw UsageError("plot: which cluster? Write the file of a scenario, or a node preset, after topology");
  }
  const std::string& argument = invocation.arguments[1];
  const std::string picture = picture_path(invocation, "topology-" + std::filesystem::path(argument).stem().string());
  const std::vector<NamedCluster> clusters = named_clusters_of(invocation, argument);
  const Cluster& cluster = *the_only(clusters, "plot topology draws").cluster;
  if (cluster.fabric->vertices() > kMostVertices) {
    throw UsageError(fmt::format("plot: {} devices are too many for a picture; draw a smaller cluster of the same kind",
                                 cluster.fabric->vertices()));
  }
  draw(invocation, streams, "plot_topology.py", graph_to_json(cluster), picture);
  return ExitCode::ok;
}

}  // namespace athanor
