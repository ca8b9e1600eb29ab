#pragma once

#include <vector>

#include "topologies/fabric/fabric.hpp"

namespace athanor {

/// The devices on the near side of the least cut between two sets of endpoints: a set that holds all of `near` and none
/// of `far`, so that the line rate of the links that leave it is least, by a maximum flow (Boykov and Kolmogorov).
/// Among equal cuts the nearest to `near`. In the order of their numbers. Requires both to have endpoints, none in
/// both.
std::vector<VertexId> near_side(const Fabric& fabric, const std::vector<VertexId>& near,
                                const std::vector<VertexId>& far);

}  // namespace athanor
