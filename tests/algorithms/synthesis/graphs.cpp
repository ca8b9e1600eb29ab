#include "tests/algorithms/synthesis/graphs.hpp"

#include <random>

namespace athanor::testing {

CapacityGraph graph_of(std::uint32_t ranks, std::uint32_t vertices, const std::vector<CapacityLink>& cables) {
  CapacityGraph graph{ranks, vertices, cables};
  for (const CapacityLink& cable : cables) { graph.links.push_back({cable.to, cable.from, cable.capacity}); }
  return graph;
}

CapacityGraph cable_ring(const std::vector<std::int64_t>& capacities) {
  const auto ranks = static_cast<std::uint32_t>(capacities.size());
  std::vector<CapacityLink> cables;
  for (std::uint32_t i = 0; i < ranks; ++i) { cables.push_back({i, (i + 1) % ranks, capacities[i]}); }
  return graph_of(ranks, ranks, cables);
}

CapacityGraph one_switch(std::uint32_t ranks, std::int64_t capacity) {
  std::vector<CapacityLink> cables;
  for (std::uint32_t i = 0; i < ranks; ++i) { cables.push_back({i, ranks, capacity}); }
  return graph_of(ranks, ranks + 1, cables);
}

CapacityGraph square_torus(std::uint32_t side) {
  std::vector<CapacityLink> cables;
  for (std::uint32_t row = 0; row < side; ++row) {
    for (std::uint32_t column = 0; column < side; ++column) {
      const std::uint32_t here = row * side + column;
      cables.push_back({here, row * side + (column + 1) % side, 1});
      cables.push_back({here, (row + 1) % side * side + column, 1});
    }
  }
  return graph_of(side * side, side * side, cables);
}

CapacityGraph two_tiers(std::uint32_t groups, std::uint32_t ranks, std::int64_t down, std::int64_t up) {
  const std::uint32_t all = groups * ranks;
  std::vector<CapacityLink> cables;
  for (std::uint32_t rank = 0; rank < all; ++rank) { cables.push_back({rank, all + rank / ranks, down}); }
  for (std::uint32_t group = 0; group < groups; ++group) { cables.push_back({all + group, all + groups, up}); }
  return graph_of(all, all + groups + 1, cables);
}

CapacityGraph rails(std::uint32_t nodes, std::uint32_t ranks, std::int64_t inner, std::int64_t outer) {
  const std::uint32_t all = nodes * ranks;
  std::vector<CapacityLink> cables;
  for (std::uint32_t rank = 0; rank < all; ++rank) {
    cables.push_back({rank, all + rank / ranks, inner});
    cables.push_back({rank, all + nodes + rank % ranks, outer});
  }
  return graph_of(all, all + nodes + ranks, cables);
}

CapacityGraph random_graph(std::uint32_t ranks, std::uint32_t switches, std::uint32_t cables, std::int64_t most,
                           std::uint32_t seed) {
  std::mt19937 random(seed);
  const std::uint32_t vertices = ranks + switches;
  std::vector<CapacityLink> all;
  const auto capacity = [&] { return 1 + static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(most)); };
  for (std::uint32_t i = 1; i < vertices; ++i) {
    all.push_back({static_cast<std::uint32_t>(random() % i), i, capacity()});
  }
  for (std::uint32_t i = 0; i < cables; ++i) {
    const auto from = static_cast<std::uint32_t>(random() % vertices);
    const auto to = static_cast<std::uint32_t>(random() % vertices);
    if (from != to) { all.push_back({from, to, capacity()}); }
  }
  return graph_of(ranks, vertices, all);
}

}  // namespace athanor::testing
