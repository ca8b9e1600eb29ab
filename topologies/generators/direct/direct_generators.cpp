#include "topologies/generators/direct/direct_generators.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "topologies/generators/direct/slim_fly.hpp"

namespace athanor {

namespace {

/// `kind`: of the description, "torus of 4 x 4".
GeneratedNetwork direct(const Population& population, std::shared_ptr<const RouterGraph> graph, const DirectSpec& spec,
                        const std::string& kind, FabricShape shape) {
  check_direct("a " + kind, population, *graph, spec);
  return {std::make_shared<DirectNetwork>(population, std::move(graph), spec), kind, std::move(shape)};
}

GeneratedNetwork grid(const Population& population, const GridShape& shape, const DirectSpec& spec,
                      std::string_view name, FabricShape drawn) {
  check_population(population);
  check_grid(fmt::format("a {}", name), shape);
  GeneratedNetwork network =
      direct(population, std::make_shared<GridGraph>(shape), spec,
             fmt::format("{} of {}", name, fmt::join(shape.dimensions, " x ")), std::move(drawn));
  if (population.endpoints_each() == 1 && shape.dimensions.size() <= network.torus.size()) {
    std::copy(shape.dimensions.begin(), shape.dimensions.end(), network.torus.begin());
  }
  return network;
}

}  // namespace

GeneratedNetwork torus_network(const Population& population, const TorusSpec& spec) {
  const bool twisted = std::any_of(spec.twists.begin(), spec.twists.end(), [](const auto& row) {
    return std::any_of(row.begin(), row.end(), [](std::uint32_t shift) { return shift != 0; });
  });
  return grid(population, {spec.dimensions, {}, spec.twists}, {{}, {}, spec.nic_cable, spec.cable, spec.cable},
              twisted ? "twisted torus" : "torus", {"torus", spec.dimensions});
}

GeneratedNetwork mesh_network(const Population& population, const MeshSpec& spec) {
  std::vector<bool> open(spec.wraps.empty() ? spec.dimensions.size() : spec.wraps.size(), true);
  for (std::size_t d = 0; d < spec.wraps.size(); ++d) { open[d] = !spec.wraps[d]; }
  return grid(population, {spec.dimensions, open, {}}, {{}, {}, spec.nic_cable, spec.cable, spec.cable}, "mesh",
              {"mesh", spec.dimensions});
}

GeneratedNetwork full_mesh_network(const Population& population, std::uint32_t routers, std::uint32_t cables,
                                   const DirectSpec& spec) {
  check_population(population);
  const HyperXShape shape{{routers}, {cables}};
  check_hyperx("a full mesh", shape);
  return direct(population, std::make_shared<HyperX>(shape), spec,
                fmt::format("full mesh of {}{}", routers, spec.hosts_per_router ? " switches" : ""),
                {"full_mesh", shape.dimensions});
}

GeneratedNetwork hyperx_network(const Population& population, const HyperXShape& shape, const DirectSpec& spec) {
  check_population(population);
  check_hyperx("a HyperX", shape);
  return direct(population, std::make_shared<HyperX>(shape), spec,
                fmt::format("HyperX of {} switches", fmt::join(shape.dimensions, " x ")), {"hyperx", shape.dimensions});
}

GeneratedNetwork dragonfly_network(const Population& population, const DragonflyShape& shape, const DirectSpec& spec) {
  check_population(population);
  check_dragonfly(shape);
  return direct(population, std::make_shared<Dragonfly>(shape), spec,
                fmt::format("dragonfly of {} groups of {} routers", shape.groups, shape.routers_per_group),
                {"dragonfly", {shape.groups, shape.routers_per_group}});
}

GeneratedNetwork dragonfly_plus_network(const Population& population, const DragonflyPlusShape& shape,
                                        const DirectSpec& spec) {
  check_population(population);
  check_dragonfly_plus(shape);
  return direct(population, std::make_shared<DragonflyPlus>(shape), spec,
                fmt::format("dragonfly+ of {} groups of {} leaves and {} spines", shape.groups, shape.leaves_per_group,
                            shape.spines_per_group),
                {"dragonfly_plus", {shape.groups, shape.leaves_per_group, shape.spines_per_group}});
}

GeneratedNetwork slim_fly_network(const Population& population, std::uint32_t q, const DirectSpec& spec) {
  check_population(population);
  check_slim_fly(q);
  return direct(population, std::make_shared<SlimFly>(q), spec,
                fmt::format("Slim Fly of q = {} with {} routers", q, 2 * q * q), {"slim_fly", {q}});
}

Cluster torus(const Population& population, const TorusSpec& spec, const RoutingRequest& routing) {
  return assemble(population, torus_network(population, spec), routing);
}

Cluster mesh(const Population& population, const MeshSpec& spec, const RoutingRequest& routing) {
  return assemble(population, mesh_network(population, spec), routing);
}

Cluster full_mesh(const Population& population, std::uint32_t routers, std::uint32_t cables, const DirectSpec& spec,
                  const RoutingRequest& routing) {
  return assemble(population, full_mesh_network(population, routers, cables, spec), routing);
}

Cluster hyperx(const Population& population, const HyperXShape& shape, const DirectSpec& spec,
               const RoutingRequest& routing) {
  return assemble(population, hyperx_network(population, shape, spec), routing);
}

Cluster dragonfly(const Population& population, const DragonflyShape& shape, const DirectSpec& spec,
                  const RoutingRequest& routing) {
  return assemble(population, dragonfly_network(population, shape, spec), routing);
}

Cluster dragonfly_plus(const Population& population, const DragonflyPlusShape& shape, const DirectSpec& spec,
                       const RoutingRequest& routing) {
  return assemble(population, dragonfly_plus_network(population, shape, spec), routing);
}

Cluster slim_fly(const Population& population, std::uint32_t q, const DirectSpec& spec, const RoutingRequest& routing) {
  return assemble(population, slim_fly_network(population, q, spec), routing);
}

}  // namespace athanor
