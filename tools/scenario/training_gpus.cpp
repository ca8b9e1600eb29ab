#include "tools/scenario/training_gpus.hpp"

#include <algorithm>

#include "topologies/scenario/make_cluster.hpp"

namespace athanor {

namespace {

/// By node, the number of its kind in the mixture.
std::vector<std::uint32_t> kinds_of_nodes(const ClusterText& text) {
  std::vector<std::uint32_t> kinds;
  for (std::uint32_t kind = 0; kind < text.mixture.size(); ++kind) {
    kinds.insert(kinds.end(), text.mixture[kind].count, kind);
  }
  return kinds;
}

std::uint32_t number_of(const std::string& name, std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), name);
  const auto number = static_cast<std::uint32_t>(found - names.begin());
  if (found == names.end()) { names.push_back(name); }
  return number;
}

}  // namespace

ClusterGpus gpus_of(const ClusterText& text, const Cluster& cluster, const Library& library) {
  ClusterGpus gpus;
  if (text.mixture.empty()) {
    if (cluster.identity) { gpus.names.push_back(cluster.identity->gpu); }
    return gpus;
  }
  const Presets presets = load_presets(library.folder(Shelf::presets));
  std::vector<std::uint32_t> of_kind;
  for (const NodeCountText& kind : text.mixture) {
    Problems known;  // the cluster was built of these nodes
    const std::optional<NodeSpec> node = make_node(kind.node, presets, known);
    of_kind.push_back(number_of(node ? node->identity.gpu : "", gpus.names));
  }
  const std::vector<std::uint32_t> kinds = kinds_of_nodes(text);
  for (const VertexId endpoint : cluster.endpoints) {
    gpus.of_endpoint.push_back(of_kind.at(kinds.at(cluster.fabric->vertex(endpoint).node)));
  }
  return gpus;
}

}  // namespace athanor
