#include "models/experiments/scenario/cluster_section.hpp"

#include <fmt/core.h>

#include "sim/format.hpp"
#include "topologies/cluster.hpp"
#include "topologies/scenario/make_cluster.hpp"

namespace athanor {

namespace {

std::string summary(const NodePreset& preset) {
  const NodeConfig& node = preset.node;
  std::string text = node.processes
                         ? fmt::format("{} processes", *node.processes)
                         : fmt::format("{} x {}", node.gpus.value_or(0), node.gpu ? name_of(*node.gpu) : "?");
  for (const NicCountConfig& model : node.nic_models) {
    text += fmt::format(", {} x {}", model.count, name_of(model.nic));
  }
  if (node.nics.value_or(0) > 0) { text += fmt::format(", {} x {}", *node.nics, node.nic ? name_of(*node.nic) : "?"); }
  return text;
}

std::string summary(const GpuPreset& preset) {
  std::string text = fmt::format("{} of memory at {}", to_string(preset.memory), to_string(preset.memory_bandwidth));
  return text + (preset.nvlink ? fmt::format(", {} x {}", preset.nvlinks, preset.nvlink->preset) : ", no NVLink");
}

std::string summary(const NicPreset& preset) { return to_string(preset.rate); }

std::string summary(const SwitchPreset& preset) {
  return fmt::format("{} ports of {}", preset.radix.value_or(0), to_string(preset.rate));
}

std::string summary(const LinkPreset& preset) {
  return fmt::format("{}, {} usable, {}", to_string(preset.spec.rate), to_string(preset.spec.usable),
                     to_string(preset.spec.latency));
}

template <class Preset>
void append(const char* kind, const std::map<std::string, Preset>& presets, std::vector<PresetSummary>& summaries) {
  for (const auto& [name, preset] : presets) { summaries.push_back({kind, name, summary(preset)}); }
}

}  // namespace

std::shared_ptr<const Cluster> ClusterCache::build(const Request& request, Problems& problems) {
  const std::string routing(request.routing ? name(*request.routing) : "");
  const std::string_view pxn = !request.pxn ? "" : *request.pxn ? "pxn" : "no pxn";
  std::shared_ptr<const Cluster>& cluster =
      built_[fmt::format("{} {} {} {} {}", request.seed, routing, pxn, request.fabric, request.json)];
  if (cluster) { return cluster; }
  if (!presets_) { presets_ = load_presets(library_.files().in(library_.folder(LibraryFolder::presets))); }
  std::optional<Cluster> made =
      make_cluster(request.config, *presets_, {request.routing, request.seed, request.pxn, request.fabric},
                   {request.routing_place, request.fabric_place}, problems);
  if (made) { scale_links(*made, scalings_); }
  if (made) { cluster = std::make_shared<const Cluster>(std::move(*made)); }
  return cluster;
}

void ClusterCache::tidy(std::size_t most) {
  if (built_.size() > most) { built_.clear(); }
}

std::vector<PresetSummary> preset_summaries(const Library& library) {
  const auto presets = load_presets(library.files().in(library.folder(LibraryFolder::presets)));
  std::vector<PresetSummary> summaries;
  append("node", presets->nodes, summaries);
  append("gpu", presets->gpus, summaries);
  append("nic", presets->nics, summaries);
  append("switch", presets->switches, summaries);
  append("link", presets->links, summaries);
  return summaries;
}

std::shared_ptr<const Cluster> preset_cluster(const std::string& name, const Library& library) {
  const auto presets = load_presets(library.files().in(library.folder(LibraryFolder::presets)));
  if (!presets->nodes.contains(name)) { return nullptr; }
  ClusterConfig config;
  config.node.emplace().preset = name;
  Problems problems;
  std::optional<Cluster> cluster = make_cluster(config, *presets, {}, {}, problems);
  problems.throw_if_any();
  return std::make_shared<const Cluster>(std::move(cluster.value()));
}

}  // namespace athanor
