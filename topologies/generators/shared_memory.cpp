#include <fmt/core.h>

#include "topologies/cluster.hpp"
#include "topologies/generators.hpp"
#include "topologies/routing/shortest_path_router.hpp"

namespace athanor {

namespace {

/// So many ranks on one device.
Cluster one_host(std::uint32_t ranks) {
  FabricBuilder builder;
  builder.add_named(VertexKind::host, "host");
  Cluster cluster;
  cluster.fabric = std::make_unique<Fabric>(builder.build());
  cluster.endpoints.assign(ranks, VertexId{0});
  cluster.router = std::make_unique<ShortestPathRouter>(*cluster.fabric, 0);
  return cluster;
}

}  // namespace

Cluster shared_memory(std::uint32_t ranks, std::uint32_t processors) {
  Cluster cluster = one_host(ranks);
  cluster.processors = processors;
  cluster.description =
      fmt::format("{} threads that share memory on {} processor{}", ranks, processors, processors == 1 ? "" : "s");
  return cluster;
}

Cluster shared_gpus(std::uint32_t ranks, std::uint32_t gpus) {
  Cluster cluster = one_host(ranks);
  cluster.shared_gpus = gpus;
  cluster.description = fmt::format("{} ranks that share the memory of {} GPU{}", ranks, gpus, gpus == 1 ? "" : "s");
  return cluster;
}

}  // namespace athanor
