#pragma once

#include <cstdint>
#include <vector>

#include "models/experts/exchange_kind.hpp"
#include "models/experts/token_routing.hpp"
#include "models/traffic/simulate_traffic.hpp"
#include "sim/time.hpp"

namespace athanor {

struct Cluster;

/// What kernels of a kind cost; no software but them carries an exchange out. Each figure with its source in
/// docs/experts.md.
struct ExchangeCosts {
  std::uint32_t multiprocessors = 0;  ///< that the kernels take while they run; 0: none that computing could use
  double scale_up = 1;                ///< share of what links of the GPUs' own network carry
  double network = 1;                 ///< share of what NICs and the network carry
  Time overhead;                      ///< of a dispatch: launch, agreement on who gets how much, the last bytes
  Time combine_overhead;              ///< the same of a combine
  Time copy_token;                    ///< what a multiprocessor takes to copy a token, whatever its size
  double copy_rate = 0;               ///< ... and its bytes a second; 0: it is never short
  auto operator<=>(const ExchangeCosts&) const = default;
};

/// Requires a kind other than pairwise.
ExchangeCosts exchange_costs(ExchangeKind kind);

/// One dispatch, or one combine: what each rank of a group does with its tokens.
struct TokenExchange {
  ExchangeKind kind = ExchangeKind::deep_ep;
  bool combines = false;  ///< results come back the same ways
  TokenRouting routing;
  double tokens = 0;       ///< of each rank; an average, where they are not whole
  double token_bytes = 0;  ///< of a token on its way, with its scales
  ExchangeCosts costs;
  auto operator<=>(const TokenExchange&) const = default;
};

/// Ranks of a group and the nodes that they are on: `ranks_per_node` after each other on each.
struct ExchangeGroup {
  std::uint32_t ranks = 1;
  std::uint32_t ranks_per_node = 1;
};

/// Bytes on their way between ranks of a group.
struct ExchangeBytes {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  double bytes = 0;
  bool in_node = false;
};

/// What leaves for where. Messages without bytes are left out.
std::vector<ExchangeBytes> messages_of(const TokenExchange& exchange, const ExchangeGroup& group);

/// As DeepEP's tests count (tests/test_internode.py, test_intranode.py, test_low_latency.py): of deep_ep and hybrid_ep
/// over nodes the copies that a rank sends to nodes, its own among them; within one node those that it receives from
/// ranks, itself among them; of low_latency all choices. Of the busiest rank.
double counted_bytes(const TokenExchange& exchange, const ExchangeGroup& group);

/// What multiprocessors take to copy the tokens that the busiest rank receives from ranks of its node.
Time copy_time(const TokenExchange& exchange, const ExchangeGroup& group);

/// What became of it.
struct ExchangeTimes {
  Time time;     ///< until the last rank has all, overhead included
  Time network;  ///< in which bytes move
  Time copies;   ///< in which multiprocessors copy
  NetworkUse use;
};

/// All groups at the same time on the fabric. `groups`: endpoints by rank. Throws SimulationError: "experts-do-not-fit"
/// where ranks of a group are spread unevenly over its nodes, and as simulate_traffic().
ExchangeTimes simulate_exchange(const TokenExchange& exchange, const std::vector<std::vector<std::uint32_t>>& groups,
                                const Cluster& cluster, std::uint64_t seed, const NetworkOptions& options);

/// The same messages as a matrix, sized by what of the links' rates the kernels reach.
TrafficMatrix matrix_of(const TokenExchange& exchange, const std::vector<std::vector<std::uint32_t>>& groups,
                        const Cluster& cluster);

/// How a group's ranks are spread. Throws as simulate_exchange().
ExchangeGroup group_of(const std::vector<std::uint32_t>& endpoints, const Cluster& cluster);

}  // namespace athanor
