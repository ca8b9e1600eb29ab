#include "topologies/population.hpp"

#include "sim/check.hpp"

namespace athanor {

void add_vertices(const Population& population, FabricBuilder& builder) {
  for (std::uint32_t m = 0; m < population.members; ++m) {
    const VertexId first =
        population.node ? population.node->add_vertices(builder, m) : builder.add({population.kind, kNoNode, m});
    require(first.value == m * population.vertices_each(), "member {} begins at vertex {}", m, first.value);
  }
}

void add_links(const Population& population, FabricBuilder& builder) {
  if (!population.node) { return; }
  for (std::uint32_t m = 0; m < population.members; ++m) {
    population.node->add_links(builder, VertexId{m * population.vertices_each()});
  }
}

}  // namespace athanor
