#pragma once

#include <cstdint>
#include <vector>

#include "models/jobs/checkpoints.hpp"
#include "models/jobs/inventory.hpp"

namespace athanor {

/// Whether each part of what a job keeps in the memory of its nodes is left on one of them when these are lost. Nodes
/// are in groups in their order; a rest that is too small for all copies joins the group before it. The copies of a
/// node's part are on itself and on those that follow it in its group, round about.
bool copies_survive(const MemoryCheckpoints& memory, const Allocation& where, const std::vector<NodeId>& lost);

}  // namespace athanor
