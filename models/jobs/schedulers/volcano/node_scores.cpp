#include "models/jobs/schedulers/volcano/node_scores.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "models/jobs/schedulers/volcano/amounts.hpp"

namespace athanor {

namespace {

constexpr double kMost = 100;
constexpr std::int64_t kMostWhole = 100;

/// One kind of thing on a node, with the task that is scored.
struct Used {
  std::int64_t has = 0;   ///< 0: it has none, or as many as jobs want
  std::int64_t used = 0;  ///< with the task
  bool asked = false;
};
using UsedKinds = std::array<Used, Amounts::kKinds>;

std::int64_t free_gpu_milli_of(NodeId node, const Inventory& inventory) {
  std::int64_t sum = 0;
  for (std::uint32_t gpu = 0; gpu < inventory.nodes().nodes[node].gpus; ++gpu) {
    sum += inventory.free_milli(node, gpu);
  }
  return sum;
}

UsedKinds used_with(const Demand& demand, NodeId id, const Inventory& inventory) {
  const Node& node = inventory.nodes().nodes[id];
  const Amounts asked = amounts_of(demand, 1);
  UsedKinds kinds;
  const auto set = [&](Amounts::Kind kind, std::int64_t has, std::int64_t free) {
    kinds[kind] = {has, has - free + asked.of[kind], asked.of[kind] > 0};
  };
  if (node.cpu_milli != Node::kUnlimited) { set(Amounts::cpu, node.cpu_milli, inventory.free_cpu_milli(id)); }
  if (node.memory_mib != Node::kUnlimited) { set(Amounts::memory, node.memory_mib, inventory.free_memory_mib(id)); }
  if (node.gpus > 0) {
    set(Amounts::gpu, std::int64_t{node.gpus} * Inventory::kWhole, free_gpu_milli_of(id, inventory));
  }
  return kinds;
}

/// The mean over cores and memory, each in whole numbers.
template <class Score>
std::int64_t mean_score(const UsedKinds& kinds, Score score) {
  std::int64_t sum = 0;
  std::int64_t count = 0;
  for (const auto kind : {Amounts::cpu, Amounts::memory}) {
    const Used& each = kinds[kind];
    if (each.has == 0) { continue; }
    sum += each.used > each.has ? 0 : score(each);
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

std::int64_t balanced_score(const UsedKinds& kinds) {
  std::array<double, Amounts::kKinds> parts = {};
  std::size_t count = 0;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    const Used& each = kinds[kind];
    if (each.has == 0 || (kind == Amounts::gpu && !each.asked)) { continue; }
    parts[count++] = std::min(1.0, static_cast<double>(each.used) / static_cast<double>(each.has));
  }
  if (count < 2) { return kMostWhole; }
  double mean = 0;
  for (std::size_t i = 0; i < count; ++i) { mean += parts[i] / static_cast<double>(count); }
  double squares = 0;
  for (std::size_t i = 0; i < count; ++i) { squares += (parts[i] - mean) * (parts[i] - mean); }
  const double deviation =
      count == 2 ? std::fabs(parts[0] - parts[1]) / 2 : std::sqrt(squares / static_cast<double>(count));
  return static_cast<std::int64_t>((1 - deviation) * kMost);
}

}  // namespace

double binpack_score(const Demand& demand, NodeId node, const Inventory& inventory, const BinpackWeights& weights) {
  const UsedKinds kinds = used_with(demand, node, inventory);
  const std::array<std::uint32_t, Amounts::kKinds> weight = {weights.cpu, weights.memory, weights.gpus};
  double sum = 0;
  double of = 0;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    const Used& each = kinds[kind];
    if (each.has == 0 || !each.asked) { continue; }
    of += weight[kind];
    if (each.used > each.has) { continue; }
    sum += static_cast<double>(each.used) * weight[kind] / static_cast<double>(each.has);
  }
  return of > 0 ? sum / of * kMost * weights.weight : 0;
}

double nodeorder_score(const Demand& demand, NodeId node, const Inventory& inventory, const NodeorderWeights& weights) {
  const UsedKinds kinds = used_with(demand, node, inventory);
  const auto least = [](const Used& each) { return (each.has - each.used) * kMostWhole / each.has; };
  const auto most = [](const Used& each) { return each.used * kMostWhole / each.has; };
  std::int64_t sum = 0;
  if (weights.least_requested > 0) { sum += weights.least_requested * mean_score(kinds, least); }
  if (weights.most_requested > 0) { sum += weights.most_requested * mean_score(kinds, most); }
  if (weights.balanced > 0) { sum += weights.balanced * balanced_score(kinds); }
  return static_cast<double>(sum);
}

double node_score(const Demand& demand, NodeId node, const Inventory& inventory, const VolcanoSettings& settings) {
  double score = 0;
  if (const auto* use = settings.use_of(VolcanoPlugin::nodeorder)) {
    score += nodeorder_score(demand, node, inventory, use->nodeorder);
  }
  if (const auto* use = settings.use_of(VolcanoPlugin::binpack)) {
    score += binpack_score(demand, node, inventory, use->binpack);
  }
  return score;
}

}  // namespace athanor
