#include "topologies/generators/direct/direct_generators.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "topologies/generators/assemble.hpp"
#include "topologies/generators/direct/slim_fly.hpp"

namespace athanor {

namespace {

/// `kind`: of the description, "torus of 4 x 4".
Cluster direct(const Population& population, std::shared_ptr<const RouterGraph> graph, const DirectSpec& spec,
               const RoutingRequest& routing, const std::string& kind) {
  check_direct("a " + kind, population, *graph, spec);
  return assemble(population, std::make_shared<DirectNetwork>(population, std::move(graph), spec), routing, kind);
}

Cluster grid(const Population& population, const GridShape& shape, const DirectSpec& spec,
             const RoutingRequest& routing, std::string_view name) {
  check_population(population);
  check_grid(fmt::format("a {}", name), shape);
  Cluster cluster = direct(population, std::make_shared<GridGraph>(shape), spec, routing,
                           fmt::format("{} of {}", name, fmt::join(shape.dimensions, " x ")));
  if (population.endpoints_each() == 1 && shape.dimensions.size() <= cluster.torus.size()) {
    std::copy(shape.dimensions.begin(), shape.dimensions.end(), cluster.torus.begin());
  }
  return cluster;
}

}  // namespace

Cluster torus(const Population& population, const TorusSpec& spec, const RoutingRequest& routing) {
  const bool twisted = std::any_of(spec.twists.begin(), spec.twists.end(), [](const auto& row) {
    return std::any_of(row.begin(), row.end(), [](std::uint32_t shift) { return shift != 0; });
  });
  Cluster cluster =
      grid(population, {spec.dimensions, {}, spec.twists}, {{}, {}, spec.nic_cable, spec.cable, spec.cable}, routing,
           twisted ? "twisted torus" : "torus");
  cluster.shape = {"torus", spec.dimensions};
  return cluster;
}

Cluster mesh(const Population& population, const MeshSpec& spec, const RoutingRequest& routing) {
  std::vector<bool> open(spec.wraps.empty() ? spec.dimensions.size() : spec.wraps.size(), true);
  for (std::size_t d = 0; d < spec.wraps.size(); ++d) { open[d] = !spec.wraps[d]; }
  Cluster cluster =
      grid(population, {spec.dimensions, open, {}}, {{}, {}, spec.nic_cable, spec.cable, spec.cable}, routing, "mesh");
  cluster.shape = {"mesh", spec.dimensions};
  return cluster;
}

Cluster full_mesh(const Population& population, std::uint32_t routers, std::uint32_t cables, const DirectSpec& spec,
                  const RoutingRequest& routing) {
  check_population(population);
  const HyperXShape shape{{routers}, {cables}};
  check_hyperx("a full mesh", shape);
  Cluster cluster = direct(population, std::make_shared<HyperX>(shape), spec, routing,
                           fmt::format("full mesh of {}{}", routers, spec.hosts_per_router ? " switches" : ""));
  cluster.shape = {"full_mesh", shape.dimensions};
  return cluster;
}

Cluster hyperx(const Population& population, const HyperXShape& shape, const DirectSpec& spec,
               const RoutingRequest& routing) {
  check_population(population);
  check_hyperx("a HyperX", shape);
  Cluster cluster = direct(population, std::make_shared<HyperX>(shape), spec, routing,
                           fmt::format("HyperX of {} switches", fmt::join(shape.dimensions, " x ")));
  cluster.shape = {"hyperx", shape.dimensions};
  return cluster;
}

Cluster dragonfly(const Population& population, const DragonflyShape& shape, const DirectSpec& spec,
                  const RoutingRequest& routing) {
  check_population(population);
  check_dragonfly(shape);
  Cluster cluster = direct(population, std::make_shared<Dragonfly>(shape), spec, routing,
                           fmt::format("dragonfly of {} groups of {} routers", shape.groups, shape.routers_per_group));
  cluster.shape = {"dragonfly", {shape.groups, shape.routers_per_group}};
  return cluster;
}

Cluster dragonfly_plus(const Population& population, const DragonflyPlusShape& shape, const DirectSpec& spec,
                       const RoutingRequest& routing) {
  check_population(population);
  check_dragonfly_plus(shape);
  Cluster cluster = direct(population, std::make_shared<DragonflyPlus>(shape), spec, routing,
                           fmt::format("dragonfly+ of {} groups of {} leaves and {} spines", shape.groups,
                                       shape.leaves_per_group, shape.spines_per_group));
  cluster.shape = {"dragonfly_plus", {shape.groups, shape.leaves_per_group, shape.spines_per_group}};
  return cluster;
}

Cluster slim_fly(const Population& population, std::uint32_t q, const DirectSpec& spec, const RoutingRequest& routing) {
  check_population(population);
  check_slim_fly(q);
  Cluster cluster = direct(population, std::make_shared<SlimFly>(q), spec, routing,
                           fmt::format("Slim Fly of q = {} with {} routers", q, 2 * q * q));
  cluster.shape = {"slim_fly", {q}};
  return cluster;
}

}  // namespace athanor
