#include "models/experts/replicas.hpp"

#include <algorithm>
#include <numeric>

#include "sim/check.hpp"

namespace athanor {

namespace {

std::vector<std::uint32_t> counts_of(const std::vector<double>& loads, std::uint32_t redundant) {
  std::vector<std::uint32_t> counts(loads.size(), 1);
  for (std::uint32_t more = 0; more < redundant; ++more) {
    std::size_t busiest = 0;
    for (std::size_t e = 1; e < loads.size(); ++e) {
      if (loads[e] * counts[busiest] > loads[busiest] * counts[e]) { busiest = e; }
    }
    ++counts[busiest];
  }
  return counts;
}

/// The rank with least load among those with room, and of those that lack the expert if there is any.
std::size_t rank_for(const std::vector<double>& busy, const std::vector<std::uint32_t>& room,
                     const std::vector<std::uint32_t>& taken) {
  std::size_t best = busy.size();
  bool best_has = true;
  for (std::size_t rank = 0; rank < busy.size(); ++rank) {
    if (room[rank] == 0) { continue; }
    const bool has = std::count(taken.begin(), taken.end(), rank) > 0;
    if (best == busy.size() || (best_has && !has) || (has == best_has && busy[rank] < busy[best])) {
      best = rank;
      best_has = has;
    }
  }
  return best;
}

}  // namespace

std::vector<std::vector<std::uint32_t>> place_experts(const std::vector<double>& loads, std::uint32_t redundant,
                                                      std::uint32_t ranks) {
  const auto experts = static_cast<std::uint32_t>(loads.size());
  require(ranks > 0 && (experts + redundant) % ranks == 0, "{} replicas on {} ranks", experts + redundant, ranks);
  std::vector<std::vector<std::uint32_t>> placed(experts);
  const std::uint32_t each = (experts + redundant) / ranks;
  if (redundant == 0) {
    for (std::uint32_t e = 0; e < experts; ++e) { placed[e] = {e / each}; }
    return placed;
  }
  const std::vector<std::uint32_t> counts = counts_of(loads, redundant);
  std::vector<std::uint32_t> order(experts);
  std::iota(order.begin(), order.end(), 0U);
  const auto load = [&](std::uint32_t e) { return loads[e] / counts[e]; };
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return load(a) > load(b); });
  std::vector<double> busy(ranks, 0.0);
  std::vector<std::uint32_t> room(ranks, each);
  for (const std::uint32_t e : order) {
    for (std::uint32_t replica = 0; replica < counts[e]; ++replica) {
      const std::size_t rank = rank_for(busy, room, placed[e]);
      busy[rank] += load(e);
      --room[rank];
      placed[e].push_back(static_cast<std::uint32_t>(rank));
    }
  }
  return placed;
}

}  // namespace athanor
