#include "topologies/routing/dependency_cycle.hpp"

#include <algorithm>
#include <utility>

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/strong_components.hpp>
#include <fmt/core.h>

#include "sim/check.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

using Dependency = std::pair<std::uint32_t, std::uint32_t>;
using DependencyGraph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property,
                                                           boost::no_property, std::uint32_t, std::uint32_t>;

/// What waits for what, each once, in ascending order.
class Dependencies {
 public:
  explicit Dependencies(const Fabric& fabric) : fabric_(fabric) {}

  void add(const std::vector<LinkId>& path) {
    for (std::size_t i = 1; i < path.size(); ++i) {
      if (is_network(path[i - 1]) && is_network(path[i])) { found_.emplace_back(path[i - 1].value, path[i].value); }
    }
    if (found_.size() > kept_ + kMostNew) { tidy(); }
  }

  const std::vector<Dependency>& all() {
    tidy();
    return found_;
  }

 private:
  static constexpr std::size_t kMostNew = 4'000'000;  // so many repetitions at most are in memory

  bool is_network(LinkId link) const { return fabric_.link(link).kind == LinkKind::network; }

  void tidy() {
    std::sort(found_.begin(), found_.end());
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
    kept_ = found_.size();
  }

  const Fabric& fabric_;
  std::vector<Dependency> found_;
  std::size_t kept_ = 0;
};

/// A circle within a strong component that `start` belongs to: on from there until a link comes again.
std::vector<LinkId> circle_from(std::uint32_t start, const DependencyGraph& graph,
                                const std::vector<std::uint32_t>& component) {
  std::vector<std::uint32_t> circle;
  std::vector<bool> met(component.size(), false);
  std::uint32_t at = start;
  while (!met[at]) {
    met[at] = true;
    circle.push_back(at);
    const auto [first, last] = boost::adjacent_vertices(at, graph);
    at = *std::find_if(first, last, [&](std::uint32_t next) { return component[next] == component[at]; });
  }
  circle.erase(circle.begin(), std::find(circle.begin(), circle.end(), at));
  std::vector<LinkId> links;
  for (const std::uint32_t link : circle) { links.emplace_back(link); }
  return links;
}

std::vector<LinkId> first_circle(const std::vector<Dependency>& dependencies, std::uint32_t links) {
  const DependencyGraph graph(boost::edges_are_sorted, dependencies.begin(), dependencies.end(), links);
  std::vector<std::uint32_t> component(links);
  boost::strong_components(
      graph, boost::make_iterator_property_map(component.begin(), boost::get(boost::vertex_index, graph)));
  // No link waits for itself, so that an edge within a component shows that it holds two links or more: a circle.
  for (const auto& [from, to] : dependencies) {
    if (component[from] == component[to]) { return circle_from(from, graph, component); }
  }
  return {};
}

}  // namespace

DependencyCycle dependency_cycle(const Cluster& cluster, std::uint32_t flows, std::uint64_t most_routes) {
  require(flows > 0, "dependencies of no flow");
  const std::uint64_t n = cluster.endpoints.size();
  const std::uint64_t paths = cluster.router->paths();
  const std::uint64_t step = std::max<std::uint64_t>(1, (n * n * flows * paths + most_routes - 1) / most_routes);
  Dependencies dependencies(*cluster.fabric);
  std::vector<LinkId> path;
  for (std::uint64_t from = 0; from < n; ++from) {
    for (std::uint64_t to = from % step; to < n; to += step) {
      for (std::uint64_t number = 0; number < flows * paths; ++number) {
        const auto which = static_cast<std::uint32_t>(number % paths);
        path.clear();
        cluster.router->route({cluster.endpoints[from], cluster.endpoints[to], number / paths, which}, path);
        dependencies.add(path);
      }
    }
  }
  return {first_circle(dependencies.all(), cluster.fabric->links()), step > 1};
}

std::string deadlock_warning(const Fabric& fabric, const DependencyCycle& cycle) {
  if (cycle.links.empty()) { return ""; }
  constexpr std::size_t kMostNamed = 6;
  std::string text =
      "deadlock-prone under PFC or credits on one virtual channel: routes wait for each other in a circle, ";
  for (std::size_t i = 0; i < cycle.links.size() && i < kMostNamed; ++i) {
    text += fmt::format("{} waits for ", fabric.name(cycle.links[i]));
  }
  if (cycle.links.size() > kMostNamed) { return text + fmt::format("{} more", cycle.links.size() - kMostNamed); }
  return text + "the first";
}

}  // namespace athanor
