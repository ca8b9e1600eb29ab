#include "models/synthesis/synthesis_cache.hpp"

#include <utility>

#include "models/synthesis/fabric_graph.hpp"

namespace athanor {

ClusterSynthesis synthesise_for(const Cluster& cluster, CollectiveKind kind, std::uint32_t ranks) {
  const FabricGraph fabric = fabric_graph(cluster, ranks);
  if (!fabric.refusal.empty()) { return {nullptr, nullptr, fabric.refusal}; }
  SynthesisResult result = synthesise(fabric.graph, kind);
  if (!result.synthesis) { return {nullptr, nullptr, result.refusal}; }
  const auto synthesis = std::make_shared<const Synthesis>(std::move(*result.synthesis));
  return {synthesis, std::make_shared<const Algorithm>(as_algorithm(synthesis, ranks)), ""};
}

const ClusterSynthesis& SynthesisCache::get(const std::shared_ptr<const Cluster>& cluster, CollectiveKind kind,
                                            std::uint32_t ranks) {
  const Key key{cluster, kind, ranks};
  auto found = made_.find(key);
  if (found == made_.end()) { found = made_.emplace(key, synthesise_for(*cluster, kind, ranks)).first; }
  return found->second;
}

}  // namespace athanor
