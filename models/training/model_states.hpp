#pragma once

#include <cstdint>

#include "models/training/adapters.hpp"
#include "models/training/memory.hpp"
#include "models/training/parameter_share.hpp"

namespace athanor {

/// Ranks that a sharded tensor is divided among, of so many that hold the same.
double shards(const ParallelPlan& plan, std::uint32_t replicas);

/// Bytes of one parameter's parts, and what is shared out. Matrices of layers have narrow copies, as they are and
/// transposed, beside the parameter or in its place; embedding and output are never narrow.
struct StateBytes {
  double parameter = 2;  ///< and its copies
  double gradient = 4;
  double master = 4;
};
StateBytes state_bytes(const ParallelPlan& plan, bool of_layers);

/// ZeRO: 4 N + 12 N / d, 2 N + 14 N / d, 16 N / d for d shards (Rajbhandari et al. 2020). `replicas`: of what is held.
void add_states(const ParameterShare& held, double replicas, const ParallelPlan& plan, bool of_layers, MemoryUse& use);

/// What compression keeps of the same, from step to step: error feedback, factors, hpZ's second copy.
void add_compression(const ParameterShare& held, double replicas, const ParallelPlan& plan, bool of_layers,
                     MemoryUse& use);

/// Coded numbers of the gradients that are summed up at once: a bucket, all, or of sharded gradients a layer's.
/// `layer`: the largest.
double coded_at_once(const ParameterShare& all, double layer, const ParallelPlan& plan);

/// What is not trained, as parameters are shared out: whole, or a part of each copy.
void add_frozen(const FrozenBytes& frozen, double replicas, const ParallelPlan& plan, MemoryUse& use);

}  // namespace athanor
