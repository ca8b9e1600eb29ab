#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/network/max_min_shares.hpp"
#include "tests/models/network_rig.hpp"

namespace athanor::test {

/// Progressive filling as its definition says, from scratch: no state, no short cuts. `level_of(remaining, unfrozen)`
/// gives a link's fair level in the number type in use.
template <class Number, class LevelOf>
std::vector<Number> fill_progressively(const FlowGraph& plan, const std::vector<bool>& active, LevelOf level_of) {
  const std::size_t flows = plan.connections.size();
  std::vector<Number> rate(flows, Number(0));
  std::vector<bool> frozen(flows);
  for (std::size_t c = 0; c < flows; ++c) { frozen[c] = !active[c]; }
  const auto for_uses = [&plan](std::size_t c, const auto& visit) {
    const FlowGraph::Connection& connection = plan.connections[ConnectionId{static_cast<std::uint32_t>(c)}];
    for (std::uint32_t u = 0; u < connection.uses; ++u) { visit(plan.uses[connection.first_use + u]); }
  };
  const auto cap = [&plan](std::size_t c) {
    return Number(
        std::min(plan.connections[ConnectionId{static_cast<std::uint32_t>(c)}].cap, Bandwidth{4'000'000'000'000'000})
            .count() *
        kFinePerByte);
  };
  while (std::find(frozen.begin(), frozen.end(), false) != frozen.end()) {
    std::vector<Number> remaining;
    std::vector<std::int64_t> unfrozen(plan.links.size());
    for (const FlowGraph::Link& link : plan.links) { remaining.push_back(Number(link.rate.count() * kFinePerByte)); }
    for (std::size_t c = 0; c < flows; ++c) {
      for_uses(c, [&](const FlowGraph::Use& use) {
        if (!frozen[c]) { unfrozen[use.link.value] += use.flows; }
        remaining[use.link.value] = remaining[use.link.value] - rate[c] * Number(use.flows);
      });
    }
    Number least = Number(INT64_MAX);
    for (std::size_t l = 0; l < plan.links.size(); ++l) {
      if (unfrozen[l] > 0) { least = std::min(least, level_of(remaining[l], unfrozen[l])); }
    }
    for (std::size_t c = 0; c < flows; ++c) {
      if (!frozen[c]) { least = std::min(least, cap(c)); }
    }
    for (std::size_t c = 0; c < flows; ++c) {
      bool freezes = !frozen[c] && cap(c) == least;
      for_uses(c, [&](const FlowGraph::Use& use) {
        freezes |= !frozen[c] && level_of(remaining[use.link.value], unfrozen[use.link.value]) == least;
      });
      if (!freezes) { continue; }
      frozen[c] = true;
      rate[c] = least;
    }
  }
  return rate;
}

/// What MaxMinShares must give, bit for bit.
inline std::vector<FineRate> whole_rates(const FlowGraph& plan, const std::vector<bool>& active) {
  return fill_progressively<FineRate>(plan, active, [](FineRate remaining, std::int64_t n) { return remaining / n; });
}

/// A system of random paths. Few distinct rates make many ties; small ones make rounding matter.
inline FlowGraph random_plan(Random& random, std::int64_t most_links, std::int64_t most_flows, std::int64_t least_rate,
                             std::int64_t most_rate, std::int64_t most_weight = 1) {
  FlowGraph plan;
  const std::int64_t links = random.between(1, most_links);
  for (std::int64_t l = 0; l < links; ++l) { plan.links.push_back({Bandwidth{random.between(least_rate, most_rate)}}); }
  const std::int64_t flows = random.between(1, most_flows);
  for (std::int64_t c = 0; c < flows; ++c) {
    std::vector<std::uint32_t> order;
    for (std::uint32_t l = 0; l < links; ++l) { order.push_back(l); }
    random.shuffle(order);
    order.resize(static_cast<std::size_t>(random.between(1, std::min<std::int64_t>(links, 4))));
    std::vector<Crossing> path;
    for (const std::uint32_t l : order) {
      path.push_back({l, static_cast<std::uint32_t>(random.between(1, most_weight))});
    }
    const bool capped = random.between(0, 3) == 0;
    add_connection(plan, path, Time{random.between(0, 3'000'000)},
                   capped ? Bandwidth{random.between(1, most_rate)} : Bandwidth::max());
  }
  return plan;
}

}  // namespace athanor::test
