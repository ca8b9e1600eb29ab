#include "topologies/catalog/catalog.hpp"

namespace athanor {

const std::vector<Topology>& topologies() {
  static const std::vector<Topology> all = [] {
    std::vector<Topology> joined = switched_topologies();
    for (Topology& topology : direct_topologies()) { joined.push_back(std::move(topology)); }
    return joined;
  }();
  return all;
}

}  // namespace athanor
