#include "models/experts/expert_settings.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "models/experts/capacity.hpp"
#include "models/experts/exchange.hpp"
#include "models/experts/replicas.hpp"

namespace athanor {

namespace {

bool copies_by_multiprocessors(ExchangeKind kind) {
  return kind == ExchangeKind::deep_ep || kind == ExchangeKind::hybrid_ep;
}

void check_kind(const ExpertSettings& settings, std::vector<std::string>& faults) {
  const std::string_view kind = name(settings.kind);
  if (settings.most_nodes > 0 && !copies_by_multiprocessors(settings.kind)) {
    faults.push_back(fmt::format(
        "\"most_nodes\" has no effect with {}, which sends a token once for each of its experts, wherever they are: "
        "leave it out, or write \"kind\": \"deep_ep\" or \"hybrid_ep\"",
        kind));
  }
  if (settings.multiprocessors && !copies_by_multiprocessors(settings.kind)) {
    faults.push_back(
        fmt::format("\"multiprocessors\" has no effect with {}: {}; leave it out, or write \"kind\": "
                    "\"deep_ep\" or \"hybrid_ep\"",
                    kind,
                    settings.kind == ExchangeKind::pairwise ? "the collective library takes its own"
                                                            : "NICs fetch and deliver tokens by themselves"));
  }
}

void check_overhead(const ExpertSettings& settings, std::vector<std::string>& faults) {
  if (!settings.overhead || settings.kind != ExchangeKind::pairwise) { return; }
  faults.emplace_back(
      "\"overhead\" has no effect with pairwise, whose calls cost what the collective library's profile says: leave it "
      "out, or write \"kind\": \"deep_ep\", \"hybrid_ep\" or \"low_latency\"");
}

void check_loads(const ExpertSettings& settings, const ExpertLayer& layer, std::vector<std::string>& faults) {
  if (settings.zipf > 0 && !settings.loads.empty()) {
    faults.emplace_back("\"zipf\" and \"loads\" both say how busy experts are: leave out one of them");
  }
  if (!settings.loads.empty() && settings.loads.size() != layer.experts) {
    faults.push_back(fmt::format("\"loads\" has {} entries, and there are {} experts: write one for each",
                                 settings.loads.size(), layer.experts));
  }
}

}  // namespace

std::vector<std::string> faults_of(const ExpertSettings& settings, const ExpertLayer& layer) {
  std::vector<std::string> faults;
  check_kind(settings, faults);
  check_overhead(settings, faults);
  check_loads(settings, layer, faults);
  if (layer.chosen > layer.experts) {
    faults.push_back(
        fmt::format("a token cannot choose {} of {} experts: at most {}", layer.chosen, layer.experts, layer.experts));
  }
  if ((layer.experts + settings.redundant) % layer.ranks != 0) {
    const std::uint32_t missing = layer.ranks - layer.experts % layer.ranks;
    faults.push_back(
        fmt::format("{} experts with {} redundant ones cannot be spread evenly over {} ranks: write \"redundant\": {}",
                    layer.experts, settings.redundant, layer.ranks, missing));
  }
  return faults;
}

TokenRouting routing_of(const ExpertSettings& settings, const ExpertLayer& layer) {
  TokenRouting routing{
      .chosen = layer.chosen, .most_nodes = settings.most_nodes, .weights = {}, .kept = {}, .replicas = {}};
  routing.weights = !settings.loads.empty() ? weights_of(settings.loads, layer.chosen)
                                            : zipf_weights(layer.experts, layer.ranks, settings.zipf);
  const std::vector<double> loads = loads_of(routing.weights, layer.chosen);
  routing.replicas = place_experts(loads, settings.redundant, layer.ranks);
  routing.kept.assign(layer.experts, 1.0);
  if (settings.capacity_factor > 0) {
    const auto tokens = static_cast<std::uint64_t>(std::llround(layer.tokens));
    routing.kept =
        kept_shares(loads, tokens, expert_capacity(settings.capacity_factor, tokens, layer.chosen, layer.experts));
  }
  return routing;
}

double token_bytes(const ExpertSettings& settings, std::uint32_t hidden, bool combines) {
  constexpr double kBf16 = 2;
  constexpr double kFp8 = 1 + 4.0 / 128;
  constexpr double kOwner = 16;
  const double beside = settings.kind == ExchangeKind::low_latency && !combines ? kOwner : 0;
  return hidden * (settings.dispatch == DispatchPrecision::fp8 && !combines ? kFp8 : kBf16) + beside;
}

TokenExchange exchange_of(const ExpertSettings& settings, const ExpertLayer& layer, const TokenRouting& routing,
                          bool combines) {
  ExchangeCosts costs = exchange_costs(settings.kind);
  costs.overhead = settings.overhead.value_or(costs.overhead);
  costs.combine_overhead = settings.overhead.value_or(costs.combine_overhead);
  costs.multiprocessors = settings.multiprocessors.value_or(costs.multiprocessors);
  return {.kind = settings.kind,
          .combines = combines,
          .routing = routing,
          .tokens = layer.tokens,
          .token_bytes = token_bytes(settings, layer.hidden, combines),
          .costs = costs};
}

/// Nodes do not change what ranks get unless tokens are limited to some of them and experts are unequal.
ExpertLoad load_of(const TokenRouting& routing, std::uint32_t ranks) {
  const TokenSpread spread = spread_of(routing, ranks, ranks);
  const double all = spread.choices_of_token();
  const double busiest = *std::max_element(spread.choices.begin(), spread.choices.end());
  const bool keeps_all = std::all_of(routing.kept.begin(), routing.kept.end(), [](double share) { return share == 1; });
  return {busiest * ranks / all, keeps_all ? 1 : std::min(1.0, all / routing.chosen)};
}

}  // namespace athanor
