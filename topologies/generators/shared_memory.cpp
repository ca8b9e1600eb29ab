#include <fmt/format.h>

#include "topologies/generators.hpp"
#include "topologies/routing/shortest_path_router.hpp"

namespace athanor {

Cluster shared_memory(std::uint32_t ranks, std::uint32_t processors) {
  FabricBuilder builder;
  builder.add_named(VertexKind::host, "host");
  Cluster cluster;
  cluster.fabric = std::make_unique<Fabric>(builder.build());
  cluster.endpoints.assign(ranks, VertexId{0});
  cluster.router = std::make_unique<ShortestPathRouter>(*cluster.fabric, 0);
  cluster.processors = processors;
  cluster.description =
      fmt::format("{} threads that share memory on {} processor{}", ranks, processors, processors == 1 ? "" : "s");
  return cluster;
}

}  // namespace athanor
