#include "models/experts/token_routing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/core.h>

#include "models/experts/even_limited.hpp"
#include "models/experts/set_sums.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

double sum_of(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

bool all_equal(const std::vector<double>& values) {
  return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
}

/// Of what is reached: ranks of a node, or one rank alone.
struct RankRange {
  std::uint32_t first = 0;
  std::uint32_t end = 0;
  bool holds(std::uint32_t rank) const { return rank >= first && rank < end; }
};

/// Where each replica counts by itself: an expert of a rank with its part of the weight.
struct ReplicaOnRank {
  std::uint32_t rank = 0;
  double weight = 0;
  double kept = 1;
};

class Spread {
 public:
  Spread(const TokenRouting& routing, std::uint32_t ranks, std::uint32_t ranks_per_node)
      : routing_(routing), ranks_(ranks), per_node_(ranks_per_node), nodes_(ranks / ranks_per_node) {}

  TokenSpread spread() const {
    TokenSpread result;
    result.choices = choices();
    const bool limited = routing_.most_nodes > 0 && routing_.most_nodes < nodes_;
    if (!limited) {
      reach(result, [&](const RankRange& range) { return reached(range); });
    } else if (all_equal(routing_.weights) && all_equal(routing_.kept) && !has_replicas()) {
      reach_evenly(result);
    } else {
      const std::vector<ReplicaOnRank> all = single_replicas();
      const long double sets = sets_of(node_set_sums(sums_by_node(all, {}), routing_.most_nodes), routing_.chosen);
      if (sets <= 0) { refuse_narrow_nodes(); }
      reach(result, [&](const RankRange& range) {
        const NodeSetSums missed = node_set_sums(sums_by_node(all, range), routing_.most_nodes);
        return static_cast<double>(1 - sets_of(missed, routing_.chosen) / sets);
      });
    }
    return result;
  }

 private:
  template <class Share>
  void reach(TokenSpread& result, const Share& share) const {
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) { result.ranks.push_back(share({rank, rank + 1})); }
    for (std::uint32_t first = 0; first < ranks_; first += per_node_) {
      result.nodes.push_back(share({first, first + per_node_}));
    }
  }

  [[noreturn]] void refuse_narrow_nodes() const {
    throw SimulationError("too-few-nodes",
                          fmt::format("a token chooses {} experts, and {} of the nodes do not have as many: make "
                                      "\"most_nodes\" larger, or leave it out",
                                      routing_.chosen, routing_.most_nodes));
  }

  void reach_evenly(TokenSpread& result) const {
    const std::size_t of_nodes = routing_.weights.size() / nodes_ * routing_.most_nodes;
    if (routing_.chosen > of_nodes) { refuse_narrow_nodes(); }
    const ReachOfToken token =
        reach_of({.nodes = nodes_,
                  .ranks_per_node = per_node_,
                  .experts_per_rank = static_cast<std::uint32_t>(routing_.weights.size()) / ranks_,
                  .chosen = routing_.chosen,
                  .most_nodes = routing_.most_nodes,
                  .kept = routing_.kept.front()});
    result.ranks.assign(ranks_, token.ranks / ranks_);
    result.nodes.assign(nodes_, token.nodes / nodes_);
  }

  bool has_replicas() const {
    return std::any_of(routing_.replicas.begin(), routing_.replicas.end(),
                       [](const auto& at) { return at.size() > 1; });
  }

  std::vector<double> choices() const {
    const std::vector<double> loads = loads_of(routing_.weights, routing_.chosen);
    std::vector<double> result(ranks_, 0.0);
    for (std::size_t e = 0; e < loads.size(); ++e) {
      const auto& at = routing_.replicas[e];
      for (const std::uint32_t rank : at) {
        result[rank] += loads[e] * routing_.kept[e] / static_cast<double>(at.size());
      }
    }
    return result;
  }

  /// Choices of an expert that are dropped, or go to a replica elsewhere, do not reach the range: what is left of its
  /// weight is that of a choice that does not.
  double reached(const RankRange& range) const {
    std::vector<double> elsewhere = routing_.weights;
    for (std::size_t e = 0; e < elsewhere.size(); ++e) {
      const auto& at = routing_.replicas[e];
      const auto here = std::count_if(at.begin(), at.end(), [&](std::uint32_t rank) { return range.holds(rank); });
      elsewhere[e] *= 1 - routing_.kept[e] * static_cast<double>(here) / static_cast<double>(at.size());
    }
    const std::uint32_t chosen = routing_.chosen;
    return static_cast<double>(1 - set_sums(elsewhere, chosen)[chosen] / set_sums(routing_.weights, chosen)[chosen]);
  }

  std::vector<ReplicaOnRank> single_replicas() const {
    std::vector<ReplicaOnRank> all;
    for (std::size_t e = 0; e < routing_.replicas.size(); ++e) {
      const auto& at = routing_.replicas[e];
      for (const std::uint32_t rank : at) {
        all.push_back({rank, routing_.weights[e] / static_cast<double>(at.size()), routing_.kept[e]});
      }
    }
    return all;
  }

  std::vector<SetSums> sums_by_node(const std::vector<ReplicaOnRank>& all, const RankRange& missed) const {
    std::vector<std::vector<double>> weights(nodes_);
    for (const ReplicaOnRank& each : all) {
      weights[each.rank / per_node_].push_back(each.weight * (missed.holds(each.rank) ? 1 - each.kept : 1));
    }
    std::vector<SetSums> sums;
    sums.reserve(nodes_);
    for (const std::vector<double>& of_node : weights) { sums.push_back(set_sums(of_node, routing_.chosen)); }
    return sums;
  }

  const TokenRouting& routing_;
  std::uint32_t ranks_;
  std::uint32_t per_node_;
  std::uint32_t nodes_;
};

std::vector<double> scaled(const std::vector<double>& values, double sum) {
  std::vector<double> result = values;
  const double factor = sum / sum_of(values);
  for (double& each : result) { each *= factor; }
  return result;
}

}  // namespace

double TokenSpread::ranks_of_token() const { return sum_of(ranks); }
double TokenSpread::nodes_of_token() const { return sum_of(nodes); }
double TokenSpread::choices_of_token() const { return sum_of(choices); }

TokenRouting even_routing(std::uint32_t experts, std::uint32_t chosen, std::uint32_t ranks) {
  require(ranks > 0 && experts % ranks == 0, "{} experts on {} ranks", experts, ranks);
  TokenRouting routing{.chosen = chosen,
                       .weights = std::vector<double>(experts, 1.0),
                       .kept = std::vector<double>(experts, 1.0),
                       .replicas = {}};
  for (std::uint32_t e = 0; e < experts; ++e) { routing.replicas.push_back({e / (experts / ranks)}); }
  return routing;
}

TokenSpread spread_of(const TokenRouting& routing, std::uint32_t ranks, std::uint32_t ranks_per_node) {
  require(ranks_per_node > 0 && ranks % ranks_per_node == 0, "{} ranks, {} on a node", ranks, ranks_per_node);
  require(routing.chosen > 0 && routing.chosen <= routing.weights.size(), "{} of {} experts", routing.chosen,
          routing.weights.size());
  return Spread(routing, ranks, ranks_per_node).spread();
}

std::vector<double> loads_of(const std::vector<double>& weights, std::uint32_t chosen) {
  if (all_equal(weights)) {
    return std::vector<double>(weights.size(), static_cast<double>(chosen) / static_cast<double>(weights.size()));
  }
  const std::vector<double> equal = scaled(weights, static_cast<double>(weights.size()));
  const long double all = set_sums(equal, chosen)[chosen];
  std::vector<double> loads;
  for (std::size_t e = 0; e < equal.size(); ++e) {
    std::vector<double> others = equal;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(e));
    loads.push_back(static_cast<double>(equal[e] * set_sums(others, chosen - 1)[chosen - 1] / all));
  }
  return loads;
}

/// The iteration of Chen, Dempster and Liu, section 3: a weight grows as its expert is chosen too seldom.
std::vector<double> weights_of(const std::vector<double>& loads, std::uint32_t chosen) {
  const std::vector<double> wanted = scaled(loads, chosen);
  if (all_equal(wanted)) { return std::vector<double>(wanted.size(), 1.0); }
  if (const auto most = std::max_element(wanted.begin(), wanted.end()); *most >= 1) {
    throw SimulationError(
        "no-such-loads", fmt::format("expert {} gets {:.3g} choices of each token, and a token chooses it once at most",
                                     most - wanted.begin(), *most));
  }
  constexpr int kRounds = 1000;
  constexpr double kClose = 1e-9;
  std::vector<double> weights = wanted;
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<double> now = loads_of(weights, chosen);
    double off = 0;
    for (std::size_t e = 0; e < now.size(); ++e) {
      weights[e] *= wanted[e] / now[e];
      off = std::max(off, std::abs(wanted[e] / now[e] - 1));
    }
    if (off < kClose) { break; }
  }
  return weights;
}

std::vector<double> zipf_weights(std::uint32_t experts, std::uint32_t ranks, double exponent) {
  std::vector<double> weights;
  const std::uint32_t per_rank = experts % ranks == 0 ? experts / ranks : experts;
  const std::uint32_t turns = experts / per_rank;
  for (std::uint32_t e = 0; e < experts; ++e) {
    const std::uint32_t place = e % per_rank * turns + e / per_rank;
    weights.push_back(std::pow(place + 1.0, -exponent));
  }
  return weights;
}

}  // namespace athanor
