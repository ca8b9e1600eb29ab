#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace athanor {

/// Sums over sets of experts, by size: entry j is the sum over sets of j of the products of their weights (elementary
/// symmetric functions). Products of many small weights are beyond what double holds.
using SetSums = std::vector<long double>;

/// Up to sets of `most`.
SetSums set_sums(std::span<const double> weights, std::uint32_t most);

/// The same of sets and their nodes: entry [n][j] is the sum over sets of j experts on n nodes.
using NodeSetSums = std::vector<SetSums>;

/// `by_node`: set sums of the experts of each node; up to `most_nodes` nodes.
NodeSetSums node_set_sums(std::span<const SetSums> by_node, std::uint32_t most_nodes);

/// Sets of `size`, on however many nodes.
long double sets_of(const NodeSetSums& sums, std::uint32_t size);

}  // namespace athanor
