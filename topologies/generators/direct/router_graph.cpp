#include "topologies/generators/direct/router_graph.hpp"

#include <algorithm>

namespace athanor {

void cut_loops(const Fabric& fabric, std::size_t begin, std::vector<LinkId>& path) {
  for (std::size_t at = begin; at < path.size(); ++at) {
    const VertexId here = fabric.source(path[at]);
    // The last link that comes back to here: all from `at` to it is a loop.
    for (std::size_t last = path.size(); last > at; --last) {
      if (fabric.target(path[last - 1]) != here) { continue; }
      path.erase(path.begin() + static_cast<std::ptrdiff_t>(at), path.begin() + static_cast<std::ptrdiff_t>(last));
      --at;  // what stands here now begins at the same router
      break;
    }
  }
}

}  // namespace athanor
