#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/scenario/library.hpp"
#include "topologies/cluster.hpp"
#include "topologies/scenario/cluster_text.hpp"

namespace athanor {

/// Which GPUs the endpoints of a cluster are.
struct ClusterGpus {
  std::vector<std::string> names;          ///< presets, each once; "": that of a kind of node is not known
  std::vector<std::uint32_t> of_endpoint;  ///< into `names`; empty: all are the first
};

/// Of nodes of one kind, and of mixtures. No names where endpoints are on the fabric themselves. Throws FileError for
/// the presets' own files.
ClusterGpus gpus_of(const ClusterText& text, const Cluster& cluster, const Library& library);

}  // namespace athanor
