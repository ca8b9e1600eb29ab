#include "models/experts/exchange.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "sim/check.hpp"
#include "sim/error.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

bool forwards(ExchangeKind kind) { return kind == ExchangeKind::deep_ep || kind == ExchangeKind::hybrid_ep; }

/// What each rank of a group sends where.
class ExchangeMessages {
 public:
  ExchangeMessages(const TokenExchange& exchange, const ExchangeGroup& group)
      : exchange_(exchange), group_(group), spread_(spread_of(exchange.routing, group.ranks, group.ranks_per_node)) {}

  std::vector<ExchangeBytes> all() {
    if (forwards(exchange_.kind)) {
      to_nodes();
      within_nodes();
    } else {
      to_experts();
    }
    if (exchange_.combines) {
      for (ExchangeBytes& message : messages_) { std::swap(message.from, message.to); }
    }
    return std::move(messages_);
  }

 private:
  std::uint32_t nodes() const { return group_.ranks / group_.ranks_per_node; }
  std::uint32_t rank(std::uint32_t node, std::uint32_t place) const { return node * group_.ranks_per_node + place; }

  void add(std::uint32_t from, std::uint32_t to, double tokens, bool in_node) {
    if (from == to || tokens <= 0) { return; }
    messages_.push_back({from, to, tokens * exchange_.token_bytes, in_node});
  }

  /// To the GPU of the same place: by its own NIC to the other's.
  void to_nodes() {
    for (std::uint32_t from = 0; from < nodes(); ++from) {
      for (std::uint32_t to = 0; to < nodes(); ++to) {
        for (std::uint32_t place = 0; from != to && place < group_.ranks_per_node; ++place) {
          add(rank(from, place), rank(to, place), exchange_.tokens * spread_.nodes[to], false);
        }
      }
    }
  }

  /// Tokens of this place of all nodes come through one GPU of the node.
  void within_nodes() {
    for (std::uint32_t node = 0; node < nodes(); ++node) {
      for (std::uint32_t from = 0; from < group_.ranks_per_node; ++from) {
        for (std::uint32_t to = 0; to < group_.ranks_per_node; ++to) {
          add(rank(node, from), rank(node, to), nodes() * exchange_.tokens * spread_.ranks[rank(node, to)], true);
        }
      }
    }
  }

  void to_experts() {
    for (std::uint32_t from = 0; from < group_.ranks; ++from) {
      for (std::uint32_t to = 0; to < group_.ranks; ++to) {
        const bool in_node = from / group_.ranks_per_node == to / group_.ranks_per_node;
        add(from, to, exchange_.tokens * spread_.choices[to], in_node);
      }
    }
  }

  const TokenExchange& exchange_;
  ExchangeGroup group_;
  TokenSpread spread_;
  std::vector<ExchangeBytes> messages_;
};

double largest(const std::vector<double>& values) { return *std::max_element(values.begin(), values.end()); }

ExchangeGroup group_of_all(const std::vector<std::vector<std::uint32_t>>& groups, const Cluster& cluster) {
  const ExchangeGroup first = group_of(groups.front(), cluster);
  for (const std::vector<std::uint32_t>& group : groups) {
    const ExchangeGroup own = group_of(group, cluster);
    if (own.ranks == first.ranks && own.ranks_per_node == first.ranks_per_node) { continue; }
    throw SimulationError("experts-do-not-fit",
                          fmt::format("groups of expert ranks lie differently: {} on a node of one, {} of another",
                                      first.ranks_per_node, own.ranks_per_node));
  }
  return first;
}

}  // namespace

std::string_view name(ExchangeKind kind) {
  switch (kind) {
    case ExchangeKind::pairwise: return "pairwise";
    case ExchangeKind::deep_ep: return "deep_ep";
    case ExchangeKind::hybrid_ep: return "hybrid_ep";
    case ExchangeKind::low_latency: return "low_latency";
  }
  return "";
}

std::string_view name(DispatchPrecision precision) { return precision == DispatchPrecision::fp8 ? "fp8" : "bf16"; }

/// Shares of rates: DeepEP's dispatch on 8 and on 32 H800 (its table of normal kernels). Overhead and copies: the times
/// of DeepEP and HybridEP on 8 B200 by multiprocessors (HybridEP's tables). Low latency: its dispatch on 32.
ExchangeCosts exchange_costs(ExchangeKind kind) {
  constexpr double kScaleUp = 0.81;
  constexpr double kNetwork = 0.912;
  switch (kind) {
    case ExchangeKind::pairwise: break;
    case ExchangeKind::deep_ep:
      return {24, kScaleUp, kNetwork, Time{75'000'000}, Time{166'000'000}, Time{259'000}, 44e9};
    case ExchangeKind::hybrid_ep:
      return {16, kScaleUp, kNetwork, Time{140'000'000}, Time{140'000'000}, Time{128'000}, 54e9};
    case ExchangeKind::low_latency: return {0, kScaleUp, kNetwork, Time{29'400'000}, Time{29'400'000}, Time::zero(), 0};
  }
  require(false, "costs of {}", name(kind));
  return {};
}

std::vector<ExchangeBytes> messages_of(const TokenExchange& exchange, const ExchangeGroup& group) {
  return ExchangeMessages(exchange, group).all();
}

double counted_bytes(const TokenExchange& exchange, const ExchangeGroup& group) {
  const TokenSpread spread = spread_of(exchange.routing, group.ranks, group.ranks_per_node);
  const double copies = !forwards(exchange.kind)             ? spread.choices_of_token()
                        : group.ranks > group.ranks_per_node ? spread.nodes_of_token()
                                                             : group.ranks * largest(spread.ranks);
  return exchange.tokens * copies * exchange.token_bytes;
}

Time copy_time(const TokenExchange& exchange, const ExchangeGroup& group) {
  const ExchangeCosts& costs = exchange.costs;
  if (costs.copy_rate == 0 || costs.multiprocessors == 0) { return Time::zero(); }
  const TokenSpread spread = spread_of(exchange.routing, group.ranks, group.ranks_per_node);
  const double copies = group.ranks * exchange.tokens * largest(spread.ranks);
  const double each = static_cast<double>(costs.copy_token.count()) + exchange.token_bytes / costs.copy_rate * 1e12;
  return Time{std::llround(copies * each / costs.multiprocessors)};
}

ExchangeGroup group_of(const std::vector<std::uint32_t>& endpoints, const Cluster& cluster) {
  const auto node_of = [&](std::size_t rank) {
    return cluster.fabric->vertex(cluster.endpoints.at(endpoints[rank])).node;
  };
  const std::size_t ranks = endpoints.size();
  std::size_t per_node = 1;
  while (per_node < ranks && node_of(0) != kNoNode && node_of(per_node) == node_of(0)) { ++per_node; }
  bool even = ranks % per_node == 0;
  for (std::size_t rank = 0; even && rank < ranks; ++rank) {
    even = node_of(rank) == node_of(rank - rank % per_node) &&
           (per_node == 1 || rank < per_node || node_of(rank) != node_of(rank - per_node));
  }
  if (!even) {
    throw SimulationError("experts-do-not-fit", fmt::format("{} expert ranks are spread unevenly over nodes, {} on the "
                                                            "first of them",
                                                            ranks, per_node));
  }
  return {static_cast<std::uint32_t>(ranks), static_cast<std::uint32_t>(per_node)};
}

TrafficMatrix matrix_of(const TokenExchange& exchange, const std::vector<std::vector<std::uint32_t>>& groups,
                        const Cluster& cluster) {
  const std::vector<ExchangeBytes> messages = messages_of(exchange, group_of_all(groups, cluster));
  TrafficMatrix matrix;
  for (const std::vector<std::uint32_t>& group : groups) {
    for (const ExchangeBytes& message : messages) {
      const double share = message.in_node ? exchange.costs.scale_up : exchange.costs.network;
      const auto connection = static_cast<std::uint32_t>(matrix.connections.size());
      matrix.connections.push_back({group[message.from], group[message.to]});
      matrix.messages.push_back({connection, Bytes{static_cast<std::int64_t>(std::ceil(message.bytes / share))}, {}});
    }
  }
  return matrix;
}

ExchangeTimes simulate_exchange(const TokenExchange& exchange, const std::vector<std::vector<std::uint32_t>>& groups,
                                const Cluster& cluster, std::uint64_t seed, const NetworkOptions& options) {
  ExchangeTimes times;
  times.copies = copy_time(exchange, group_of_all(groups, cluster));
  const TrafficMatrix matrix = matrix_of(exchange, groups, cluster);
  if (!matrix.messages.empty()) {
    SimulatedTraffic moved = simulate_traffic(matrix, cluster, seed, options);
    times.network = moved.time;
    times.use = std::move(moved.network);
  }
  const Time overhead = exchange.combines ? exchange.costs.combine_overhead : exchange.costs.overhead;
  times.time = overhead + std::max(times.network, times.copies);
  return times;
}

}  // namespace athanor
