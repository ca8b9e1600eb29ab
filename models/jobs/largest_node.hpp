#pragma once

#include <algorithm>
#include <cstdint>

#include "models/jobs/node_list.hpp"

namespace athanor {

/// The most GPUs that a node has.
inline std::uint32_t most_gpus_of_a_node(const NodeList& nodes) {
  std::uint32_t most = 0;
  for (const Node& node : nodes.nodes) { most = std::max<std::uint32_t>(most, node.gpus); }
  return most;
}

}  // namespace athanor
