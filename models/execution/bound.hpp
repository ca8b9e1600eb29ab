#pragma once

#include <string>

#include "algorithms/schedule/collective.hpp"
#include "sim/units.hpp"

namespace athanor {

struct Cluster;

/// The least time that any algorithm could take on this hardware, software costing nothing.
struct Bound {
  Time time;
  std::string limited_by;  ///< "endpoints", the name of the cut, or "latency"
};

/// Bound of a collective over the first `ranks` endpoints of a cluster. Largest of
///  - what the ranks together must send (without reduction in the network: Chan, Heimlich, Purkayastha, van de Geijn,
///    "Collective communication: theory, practice, and experience", 2007) over what the links of the
///    fastest inject,
///  - for every natural cut, what must cross it at least (its inside reduced to one vector first) over its line rate,
///  - the least latency from the root (rank 0 where there is none) to the rank that is farthest, over any devices:
///    all ranks depend on it.
/// `in_network`: switches may reduce and multicast, which halves what ranks must send.
Bound lower_bound(const Cluster& cluster, const Collective& collective, Bytes size, bool in_network);

/// The same of one of many calls that follow each other and may overlap, so that latencies count for nothing.
Bound lower_bound_of_many(const Cluster& cluster, const Collective& collective, Bytes size, bool in_network);

}  // namespace athanor
