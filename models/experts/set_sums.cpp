#include "models/experts/set_sums.hpp"

#include <algorithm>

namespace athanor {

SetSums set_sums(std::span<const double> weights, std::uint32_t most) {
  SetSums sums(std::size_t{most} + 1, 0.0L);
  sums[0] = 1;
  for (const double weight : weights) {
    for (std::size_t size = most; size > 0; --size) { sums[size] += weight * sums[size - 1]; }
  }
  return sums;
}

NodeSetSums node_set_sums(std::span<const SetSums> by_node, std::uint32_t most_nodes) {
  const std::size_t sizes = by_node.front().size();
  NodeSetSums sums(std::size_t{most_nodes} + 1, SetSums(sizes, 0.0L));
  sums[0][0] = 1;
  for (const SetSums& node : by_node) {
    for (std::size_t met = most_nodes; met > 0; --met) {
      for (std::size_t own = 1; own < sizes; ++own) {
        for (std::size_t size = own; size < sizes; ++size) { sums[met][size] += node[own] * sums[met - 1][size - own]; }
      }
    }
  }
  return sums;
}

long double sets_of(const NodeSetSums& sums, std::uint32_t size) {
  long double all = 0;
  for (const SetSums& of_nodes : sums) { all += of_nodes[size]; }
  return all;
}

}  // namespace athanor
