#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/experts/exchange_kind.hpp"
#include "models/experts/token_routing.hpp"
#include "sim/time.hpp"

namespace athanor {

struct TokenExchange;

/// What a user says of how tokens get to experts.
struct ExpertSettings {
  ExchangeKind kind = ExchangeKind::pairwise;
  DispatchPrecision dispatch = DispatchPrecision::bf16;  ///< results come back in bf16
  std::uint32_t most_nodes = 0;
  std::optional<std::uint32_t> multiprocessors = {};  ///< absent: as exchange_costs()
  std::optional<Time> overhead = {};                  ///< of each dispatch and combine; absent: the same
  double zipf = 0;                                    ///< exponent of the experts' weights
  std::vector<double> loads = {};                     ///< by expert, in any unit, in place of `zipf`
  std::uint32_t redundant = 0;                        ///< replicas beyond one of each expert
  double capacity_factor = 0;                         ///< 0: nothing is dropped
  bool operator==(const ExpertSettings&) const = default;

  bool uneven() const { return zipf > 0 || !loads.empty(); }
  /// Whether the ranks of experts have more or less to do than in an even all-to-all of all choices.
  bool changes_loads() const { return uneven() || redundant > 0 || capacity_factor > 0; }
};

/// A layer of experts, and the ranks that share them.
struct ExpertLayer {
  std::uint32_t experts = 1;
  std::uint32_t chosen = 1;
  std::uint32_t hidden = 1;
  std::uint32_t ranks = 1;
  double tokens = 0;  ///< of each rank
};

/// Why these do not fit each other, in the user's words; empty: they do. Keys that have no effect are named, too.
std::vector<std::string> faults_of(const ExpertSettings& settings, const ExpertLayer& layer);

/// Requires that faults_of() is empty. Throws as weights_of().
TokenRouting routing_of(const ExpertSettings& settings, const ExpertLayer& layer);

/// Requires a kind other than pairwise. Low latency has 16 bytes beside each dispatched token, that say whose it is.
TokenExchange exchange_of(const ExpertSettings& settings, const ExpertLayer& layer, const TokenRouting& routing,
                          bool combines);

/// How much more the busiest rank has to compute than the average one, and what is computed at all: shares of choices.
struct ExpertLoad {
  double busiest = 1;  ///< over the average of what is kept
  double kept = 1;
};
ExpertLoad load_of(const TokenRouting& routing, std::uint32_t ranks);

/// Bytes of a token on its way to experts, or back.
double token_bytes(const ExpertSettings& settings, std::uint32_t hidden, bool combines);

}  // namespace athanor
