#pragma once

#include <cstdint>
#include <vector>

namespace athanor {

/// How tokens choose among the experts of a layer, and where these are.
///
/// Every token goes to `chosen` different experts. A set of experts is chosen with a probability in proportion to the
/// product of their weights (conditional Poisson sampling: Chen, Dempster and Liu 1994, "Weighted finite population
/// sampling to maximize entropy"); with equal weights all sets are equally likely. An expert with several replicas has
/// its tokens shared out evenly among them.
///
/// `most_nodes`: a token goes to experts on so many nodes at most; 0: to any. With equal weights as DeepEP's tests have
/// it, scores of experts being drawn alike: it keeps the nodes whose best experts are best, and then its best experts
/// on them. With unequal ones, sets that reach more nodes are left out of the draw.
struct TokenRouting {
  std::uint32_t chosen = 1;
  std::uint32_t most_nodes = 0;
  std::vector<double> weights;                       ///< by expert, above zero
  std::vector<double> kept;                          ///< by expert: the share of its choices that is not dropped
  std::vector<std::vector<std::uint32_t>> replicas;  ///< by expert, the ranks that have it
  auto operator<=>(const TokenRouting&) const = default;
};

/// Experts of equal weights, of which none is dropped, in order over the ranks. Requires that ranks divide them.
TokenRouting even_routing(std::uint32_t experts, std::uint32_t chosen, std::uint32_t ranks);

/// Where the tokens of one rank go, as expected: shares of them.
struct TokenSpread {
  std::vector<double> ranks;    ///< by rank: go to at least one of its experts
  std::vector<double> nodes;    ///< by node, the same
  std::vector<double> choices;  ///< by rank: how many of its experts a token goes to

  double ranks_of_token() const;    ///< how many different ranks a token goes to
  double nodes_of_token() const;    ///< how many different nodes
  double choices_of_token() const;  ///< `chosen` less what is dropped
};

/// `ranks_per_node` ranks after each other are on one node. Requires that these divide the ranks, no more chosen than
/// there are experts, and with `most_nodes` of equal weights as many experts on each rank.
TokenSpread spread_of(const TokenRouting& routing, std::uint32_t ranks, std::uint32_t ranks_per_node);

/// By expert, the share of tokens that choose it; they add up to `chosen`. Wherever experts are, whatever is dropped.
std::vector<double> loads_of(const std::vector<double>& weights, std::uint32_t chosen);

/// Weights by which experts are chosen as often as was measured. `loads`: in any unit, above zero. Throws
/// SimulationError("no-such-loads") where an expert got more than every token could send it.
std::vector<double> weights_of(const std::vector<double>& loads, std::uint32_t chosen);

/// Weights that fall with the place in popularity to the power of `exponent` (Zipf), dealt out to ranks in turns:
/// expert e of a rank's `experts / ranks` is the one of place e x ranks + rank. Where ranks do not divide experts, in
/// their order.
std::vector<double> zipf_weights(std::uint32_t experts, std::uint32_t ranks, double exponent);

}  // namespace athanor
