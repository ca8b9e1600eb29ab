#include "models/experiments/scenario/training_gpus.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "sim/words.hpp"
#include "topologies/cluster.hpp"
#include "topologies/scenario/make_cluster.hpp"

namespace athanor {

namespace {

/// By node, the number of its kind in the mixture.
std::vector<std::uint32_t> kinds_of_nodes(const ClusterConfig& config) {
  std::vector<std::uint32_t> kinds;
  for (std::uint32_t kind = 0; kind < config.mixture.size(); ++kind) {
    kinds.insert(kinds.end(), config.mixture[kind].count, kind);
  }
  return kinds;
}

bool is_same(const std::optional<GpuConfig>& a, const std::optional<GpuConfig>& b) {
  if (!a || !b) { return !a && !b; }
  return a->preset == b->preset && json_of(a->figures) == json_of(b->figures);
}

std::uint32_t number_of(const std::optional<GpuConfig>& gpu, std::vector<std::optional<GpuConfig>>& gpus) {
  const auto found = std::find_if(gpus.begin(), gpus.end(), [&](const auto& each) { return is_same(each, gpu); });
  const auto number = static_cast<std::uint32_t>(found - gpus.begin());
  if (found == gpus.end()) { gpus.push_back(gpu); }
  return number;
}

/// By kind: whose ranks there are how many of.
std::vector<std::pair<std::string, std::uint32_t>> gpus_of_ranks(const TrainingSetup& setup) {
  std::vector<std::pair<std::string, std::uint32_t>> kinds{{setup.gpu.name, 0}};
  for (const GpuKind& other : setup.others) { kinds.emplace_back(other.gpu.name, 0); }
  for (std::uint32_t rank = 0; rank < setup.plan.ranks(); ++rank) {
    ++kinds[setup.kind_of_rank.empty() ? 0 : setup.kind_of_rank.at(rank)].second;
  }
  std::erase_if(kinds, [](const auto& kind) { return kind.second == 0; });
  return kinds;
}

}  // namespace

std::string gpu_names(const TrainingSetup& setup) {
  std::vector<std::string> names;
  for (const auto& [name, ranks] : gpus_of_ranks(setup)) { names.push_back(name); }
  return fmt::format("{}", joined(names, " and "));
}

std::string counted_gpus(const TrainingSetup& setup) {
  std::vector<std::string> parts;
  for (const auto& [name, ranks] : gpus_of_ranks(setup)) { parts.push_back(fmt::format("{} {}", ranks, name)); }
  return fmt::format("{}", joined(parts, " and "));
}

ClusterGpus gpus_of(const ClusterConfig& config, const Cluster& cluster, const Library& library) {
  ClusterGpus gpus;
  const auto presets = load_presets(library.files().in(library.folder(LibraryFolder::presets)));
  if (config.mixture.empty()) {
    if (config.node) { gpus.gpus.push_back(gpu_of(*config.node, *presets)); }
    return gpus;
  }
  std::vector<std::uint32_t> of_kind;
  for (const NodeCountConfig& kind : config.mixture) {
    of_kind.push_back(number_of(gpu_of(kind.node, *presets), gpus.gpus));
  }
  const std::vector<std::uint32_t> kinds = kinds_of_nodes(config);
  for (const VertexId endpoint : cluster.endpoints) {
    gpus.of_endpoint.push_back(of_kind.at(kinds.at(cluster.fabric->vertex(endpoint).node)));
  }
  return gpus;
}

double host_bandwidth(const Cluster& cluster) {
  double least = 0;
  for (const VertexId endpoint : cluster.endpoints) {
    const Fabric::OutLinks links = cluster.fabric->out(endpoint);
    double own = 0;
    for (std::uint32_t i = 0; i < links.count; ++i) {
      const Link& link = cluster.fabric->link(LinkId{links.first + i});
      if (link.kind != LinkKind::c2c && link.kind != LinkKind::pcie) { continue; }
      own = std::max(own, static_cast<double>(link.usable.count()));
    }
    least = least == 0 ? own : std::min(least, own);
  }
  return least;
}

const GpuRates& smallest_gpu(const TrainingSetup& setup) {
  const GpuRates* smallest = &setup.gpu;
  for (const GpuKind& other : setup.others) {
    if (other.gpu.memory > 0 && other.gpu.memory < smallest->memory) { smallest = &other.gpu; }
  }
  return *smallest;
}

const GpuRates& fullest_gpu(const TrainingSetup& setup) {
  if (setup.fullest_kind && *setup.fullest_kind > 0) { return setup.others.at(*setup.fullest_kind - 1).gpu; }
  if (setup.fullest_kind) { return setup.gpu; }
  if (!setup.plan.has_one_process()) { return smallest_gpu(setup); }
  const std::uint32_t kind = setup.kind_of_rank.empty() ? 0 : setup.kind_of_rank.front();
  return kind == 0 ? setup.gpu : setup.others.at(kind - 1).gpu;
}

std::string memory_shortage(double needed, const TrainingSetup& setup, bool ran) {
  const GpuRates& gpu = fullest_gpu(setup);
  const std::string figures =
      fmt::format("{:.1f} GB on {} by estimate, and {} has {:.0f}", needed * 1e-9,
                  setup.plan.has_one_process() ? "GPU 0" : "one GPU", gpu.name, gpu.memory * 1e-9);
  if (ran) { return fmt::format("it ran, though memory was {}: the estimate is too high", figures); }
  return fmt::format("does not fit into memory: {}", figures);
}

}  // namespace athanor
