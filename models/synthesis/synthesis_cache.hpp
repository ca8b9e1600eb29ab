#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "algorithms/catalog.hpp"
#include "algorithms/synthesis/synthesis.hpp"

namespace athanor {

struct Cluster;

/// A collective made for a cluster, or why there is none.
struct ClusterSynthesis {
  std::shared_ptr<const Synthesis> synthesis;
  std::shared_ptr<const Algorithm> algorithm;
  std::string refusal;
};

/// For the first `ranks` endpoints. Says why there is none where the graph has no way (see synthesise()), and where
/// fabric_graph() refuses.
ClusterSynthesis synthesise_for(const Cluster& cluster, CollectiveKind kind, std::uint32_t ranks);

/// Made once for all cases with the same cluster, collective and number of ranks.
class SynthesisCache {
 public:
  const ClusterSynthesis& get(const std::shared_ptr<const Cluster>& cluster, CollectiveKind kind, std::uint32_t ranks);

 private:
  using Key = std::tuple<std::shared_ptr<const Cluster>, CollectiveKind, std::uint32_t>;
  std::map<Key, ClusterSynthesis> made_;
};

}  // namespace athanor
