#pragma once

#include "models/network/network.hpp"
#include "sim/id_vector.hpp"

namespace athanor {

/// A lane of a MappedSchedule, of all agents together.
using LaneIndex = Id<struct LaneIndexTag>;
/// Of a MappedSchedule: when some of its lanes begin.
using StartIndex = Id<struct StartIndexTag>;
/// Of CallKernels: the lanes of one rank.
using KernelIndex = Id<struct KernelIndexTag>;

}  // namespace athanor
