#pragma once

#include <vector>

#include "sim/ratio.hpp"
#include "topologies/fabric.hpp"

namespace athanor {

struct Cluster;

/// All links of one kind, faster or nearer than they are.
struct LinkScaling {
  LinkKind kind = LinkKind::network;
  Ratio rate{1, 1};     ///< times the line rate and the usable rate; above 0
  Ratio latency{1, 1};  ///< times the latency; 0: none
};

/// Changes the links of a cluster that has not been routed on yet. Nodes that were alike stay so.
void scale_links(Cluster& cluster, const std::vector<LinkScaling>& scalings);

}  // namespace athanor
